import type { Erasure } from '../../ledger/erasure.ts';
import type { Database } from '../database.ts';

/**
 * Reads the records of an organization's erasures one by one, since each may name 50,000 events.
 */
export async function* listErasures(db: Database, organization: string): AsyncGenerator<Erasure> {
  const all = db
    .selectFrom('erasures')
    .select(['id', 'organization', 'erased_at', 'erased_by', 'reason', 'scope', 'automation_id', 'event_ids'])
    .where('organization', '=', organization)
    .orderBy('id')
    .limit(1);
  let next = await all.executeTakeFirst();
  while (next !== undefined) {
    yield { ...next, event_ids: Buffer.from(next.event_ids) };
    next = await all.where('id', '>', next.id).executeTakeFirst();
  }
}
