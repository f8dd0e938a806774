import { sql, type Transaction } from 'kysely';
import { leafOf, readLeaf, splitLeaves } from '../log/leaf.ts';
import type { Database, Tables } from './database.ts';
import type { EventRow } from './events-table.ts';
import { inSealTurn } from './seal-turn.ts';

type Trx = Transaction<Tables>;

/** A log whose older events may lack leaves, and the last event looked at. */
interface Incomplete {
  organization: string;
  sealed_until_at: Date | null;
  sealed_until_id: string | null;
}

/** What a step has done: events looked at, and leaves added. */
export interface ExistingReport {
  looked: number;
  added: number;
}

/** Makes a log for each organization that has executions. */
export async function beginLogs(db: Database): Promise<void> {
  await sql`
    with recursive names as (
      (select organization from executions order by organization limit 1)
      union all
      select (select e.organization from executions e where e.organization > n.organization
        order by e.organization limit 1)
      from names n where n.organization is not null
    )
    insert into log_trees (organization, size, frontier)
    select organization, 0, '' from names where organization is not null
    on conflict do nothing
  `.execute(db);
}

/**
 * Adds the leaves of events that were stored without one: by a release or a worker without a log.
 * Looks at the next `most` events of one log, the oldest first, and remembers the last one. A log
 * waits `graceMs` after it began, until no worker without a log is left. Resolves with undefined
 * while another worker has the turn, or if every log is complete.
 */
export function sealExisting(
  db: Database,
  { most, graceMs }: { most: number; graceMs: number },
): Promise<ExistingReport | undefined> {
  return inSealTurn(db, async (trx) => {
    const log = await nextIncomplete(trx, graceMs);
    if (log === undefined) return undefined;
    // The events come first: the leaf of each was committed with it, so it is there afterwards.
    const events = await readEvents(trx, log, most);
    const last = events.at(-1);
    const missing = await withoutLeaf(trx, log.organization, events);
    if (missing.length > 0) {
      const leaves = Buffer.concat(missing.map((event) => leafOf(event)));
      await trx.insertInto('log_segments').values({ organization: log.organization, leaves }).execute();
    }
    await trx
      .updateTable('log_trees')
      .set({
        ...(last !== undefined && { sealed_until_at: last.created_at, sealed_until_id: last.id }),
        ...(events.length < most && { complete_at: sql<Date>`now()` }),
      })
      .where('organization', '=', log.organization)
      .execute();
    return { looked: events.length, added: missing.length };
  });
}

async function nextIncomplete(trx: Trx, graceMs: number): Promise<Incomplete | undefined> {
  const { rows } = await sql<Incomplete>`
    select organization, sealed_until_at, sealed_until_id from log_trees
    where complete_at is null and began_at <= now() - ${graceMs} * interval '1 ms'
    order by organization limit 1
  `.execute(trx);
  return rows[0];
}

function readEvents(trx: Trx, log: Incomplete, most: number): Promise<EventRow[]> {
  const all = trx.selectFrom('events').selectAll().where('organization', '=', log.organization);
  const { sealed_until_at: at, sealed_until_id: id } = log;
  const further = at === null ? all : all.where(sql<boolean>`(created_at, id) > (${at}, ${id}::uuid)`);
  return further.orderBy('created_at').orderBy('id').limit(most).execute();
}

async function withoutLeaf(trx: Trx, organization: string, events: readonly EventRow[]): Promise<EventRow[]> {
  const ids = events.map(({ id }) => id).sort();
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { rows } = await sql<{ leaves: Uint8Array }>`
    select content as leaves from log_tiles
    where organization = ${organization} and level = 0 and last_id >= ${first}::uuid and first_id <= ${last}::uuid
    union all select leaves from log_tails where organization = ${organization}
    union all select leaves from log_segments where organization = ${organization}
  `.execute(trx);
  const present = new Set(
    rows.flatMap(({ leaves }) => splitLeaves(Buffer.from(leaves)).map((leaf) => readLeaf(leaf).id)),
  );
  return events.filter(({ id }) => !present.has(id));
}
