import { sql, type Transaction } from 'kysely';
import { createIdentitySource } from '../../event/identity.ts';
import { joinIds, leafOfErasure, type Erasure } from '../../ledger/erasure.ts';
import { macOf } from '../../ledger/mac.ts';
import { advisoryLocks } from '../advisory-locks.ts';
import type { Database, Tables } from '../database.ts';
import { findLetters } from './erase-dead-letters.ts';
import { chosenExecutions, countCompacted, recomputeExecutions } from './erase-executions.ts';
import { eraseTexts } from './erase-texts.ts';
import { chosenEvents, scopeOf, type ErasureRequest, type ErasureScope } from './erasure-scope.ts';
import { waitForMaintenance } from '../partitions/with-maintenance-lock.ts';
import type { EventRow } from '../tables/events-table.ts';
import { countNamed, findTexts, type EventKey } from './find-texts.ts';
import { forgetRewritten } from './rewritten-events.ts';

type Trx = Transaction<Tables>;

/** Rows that an erasure would concern. */
export interface Erasable {
  events: number;
  /** None for a text: outcomes stay. */
  executions: number;
  deadLetters: number;
  /** Executions and dead letters with the text only in their ids: these stay. */
  byName: number;
}

const identify = createIdentitySource();

/** Counts what an erasure would concern now. */
export async function countErasable(db: Database, scope: ErasureScope): Promise<Erasable> {
  const letters = await findLetters(db, scope);
  const deadLetters = letters.ids.length;
  if (scope.text !== undefined) {
    let events = 0;
    for await (const keys of findTexts(db, scope)) events += keys.length;
    return { events, executions: 0, deadLetters, byName: (await countNamed(db, scope)) + letters.byName };
  }
  const { rows } = await sql<{ events: string; executions: string; compacted: string }>`
    select (select count(*) from events where ${chosenEvents(scope)}) as events,
      (select count(*) from executions where ${chosenExecutions(scope)}) as executions,
      (${countCompacted(scope)}) as compacted
  `.execute(db);
  const { events, executions, compacted } = rows[0] ?? { events: 0, executions: 0, compacted: 0 };
  return { events: Number(events), executions: Number(executions) + Number(compacted), deadLetters, byName: 0 };
}

/**
 * Erases the events of a scope, oldest first, at most `most` at a time. Records each time who did
 * it and why, in the table `erasures` and as a leaf of the log, and yields the record. The sealer
 * waits meanwhile, so that no event is sealed while it is erased.
 */
export async function* eraseEvents(db: Database, request: ErasureRequest, most: number): AsyncGenerator<Erasure> {
  if (request.text === undefined) {
    for (;;) {
      const erasure = await record(db, request, (trx) => eraseOldest(trx, request, most));
      if (erasure === undefined) return;
      yield erasure;
    }
  }
  const keys: EventKey[] = [];
  const eraseKeys = () => record(db, request, (trx) => eraseTexts(trx, request.organization, keys.splice(0, most)));
  for await (const found of findTexts(db, request)) {
    keys.push(...found);
    while (keys.length >= most) yield* present(await eraseKeys());
  }
  while (keys.length > 0) yield* present(await eraseKeys());
}

function present<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

/** Erases events and records it, in one transaction. Resolves with undefined if there was none. */
function record(
  db: Database,
  request: ErasureRequest,
  erase: (trx: Trx) => Promise<string[]>,
): Promise<Erasure | undefined> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.seal)})`.execute(trx);
    await forgetRewritten.execute(trx);
    const ids = await erase(trx);
    if (ids.length === 0) return undefined;
    const { id, createdAt } = identify();
    const { organization, by, reason, automationId = null, macKey } = request;
    const erasure: Erasure = {
      id,
      organization,
      erased_at: new Date(createdAt),
      erased_by: by,
      reason,
      scope: scopeOf(request),
      automation_id: automationId?.toLowerCase() ?? null,
      event_ids: joinIds(ids),
    };
    await trx.insertInto('erasures').values(erasure).execute();
    if (macKey === undefined) return erasure;
    const leaves = leafOfErasure(erasure);
    await trx
      .insertInto('log_segments')
      .values({ organization, leaves, mac: macOf(macKey, organization, leaves) })
      .execute();
    return erasure;
  });
}

/** Deletes the oldest events of a scope; resolves with their ids. No compaction runs meanwhile. */
async function eraseOldest(trx: Trx, scope: ErasureScope, most: number): Promise<string[]> {
  await waitForMaintenance(trx);
  const { rows } = await sql<EventRow>`
    with chosen as materialized (
      select organization, created_at, id from events where ${chosenEvents(scope)}
      order by created_at, id limit ${most}
    )
    delete from events e using chosen c
    where (e.organization, e.created_at, e.id) = (c.organization, c.created_at, c.id)
    returning e.id, e.automation_id, e.execution_id
  `.execute(trx);
  await recomputeExecutions(trx, scope.organization, rows);
  return rows.map(({ id }) => id);
}
