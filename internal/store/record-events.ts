import type { AcceptedEvent } from '../event/event.ts';
import type { MacKey } from '../ledger/mac.ts';
import { anomalies, type Anomaly, type StoredBatch } from '../event/outcome/stored-batch.ts';
import type { Database, Tables } from './database.ts';
import { expandInSteps } from './compacted/expand.ts';
import { isCompacted, isDuplicate } from './errors.ts';
import { insertUnlessArchived, mayBeArchived } from './insert-unless-archived.ts';
import { proofOf } from './ledger/leaves-of-batch.ts';
import { insertAndMerge, type ChangeRow, type InsertOptions } from './record-events-statement.ts';
import { keepRunning } from './running-executions.ts';
import type { Kysely, RawBuilder } from './sql.ts';

/**
 * Inserts a batch and updates the outcomes of its executions, in one round trip
 * (docs/design/durability.md). Only inserted rows count, so redelivery changes nothing, even after
 * the event's day has left Postgres. The merge is commutative (least, greatest, sum);
 * `test/support/outcome-oracle.ts` states it in TypeScript.
 * With `macKey`, it also stores the salt of each inserted event and appends its leaf to the log.
 */
export async function recordEvents(
  db: Database,
  events: readonly AcceptedEvent[],
  { macKey }: { macKey?: MacKey | undefined } = {},
): Promise<StoredBatch> {
  const rows = await withWhatItMeets(db, events, (duplicates) =>
    mayBeArchived(events)
      ? insertUnlessArchived(db, events, (trx, fresh) => insertBatch(trx, fresh, { duplicates, macKey }))
      : insertBatch(db, events, { duplicates, macKey }),
  );
  return {
    stored: rows.reduce((sum, row) => sum + row.events, 0),
    transitions: rows
      .filter((row) => row.from_state !== row.to_state)
      .map((row) => ({
        organization: row.organization,
        from: row.from_state,
        to: row.to_state,
        executions: row.executions,
      })),
    anomalies: countAnomalies(rows),
  };
}

/** Compactions may overtake a batch so often; then its worker tries again later. */
const mostExpansions = 10;

/**
 * Assumes that all events are new and no execution is compacted, and looks for either only after
 * Postgres found one. Looking for duplicates each time would cost Postgres a fifth more CPU time
 * (test/bench/README.md).
 */
async function withWhatItMeets(
  db: Database,
  events: readonly AcceptedEvent[],
  insert: (duplicates: InsertOptions['duplicates']) => Promise<ChangeRow[]>,
): Promise<ChangeRow[]> {
  let duplicates: InsertOptions['duplicates'] = 'refuse';
  let expansions = 0;
  for (;;) {
    try {
      return await insert(duplicates);
    } catch (error) {
      if (isDuplicate(error) && duplicates === 'refuse') duplicates = 'skip';
      // The failure has ended the transaction of a caller.
      else if (isCompacted(error) && !db.isTransaction && expansions < mostExpansions) {
        // Not in the transaction of the batch: rows locked before its events could make workers
        // wait in a circle.
        await expandInSteps(db, events);
        expansions += 1;
      } else throw error;
    }
  }
}

async function insertBatch(
  db: Database,
  events: readonly AcceptedEvent[],
  { duplicates, macKey }: { duplicates: InsertOptions['duplicates']; macKey: MacKey | undefined },
): Promise<ChangeRow[]> {
  const batch = inOneOrder(duplicates === 'skip' ? withoutRepeats(events) : events);
  if (batch.length === 0) return [];
  const proof = macKey && proofOf(batch, macKey);
  return insertAndKeepRunning(db, batch, insertAndMerge(batch, { duplicates, proof }));
}

/**
 * By the primary key: two workers with the same events cannot deadlock, and neighbouring keys are
 * added together. Events come nearly sorted, so this costs less here than in Postgres.
 */
function inOneOrder(events: readonly AcceptedEvent[]): AcceptedEvent[] {
  return events.toSorted(
    (one, other) =>
      compare(one.organization, other.organization) || one.createdAt - other.createdAt || compare(one.id, other.id),
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** One of each: equal events in one batch have different salts. */
function withoutRepeats(events: readonly AcceptedEvent[]): AcceptedEvent[] {
  return [...new Map(events.map((event) => [`${event.id} ${event.organization}`, event])).values()];
}

/**
 * Runs the statement, and then those of {@link keepRunning} in the same transaction: they must see
 * what the statement waited for.
 */
async function insertAndKeepRunning(
  db: Database,
  events: readonly AcceptedEvent[],
  statement: RawBuilder<ChangeRow>,
): Promise<ChangeRow[]> {
  const after = keepRunning(events);
  if (db.followedBy !== undefined) {
    const compiled = after.map((each) => each.compile(db));
    return (
      await statement.execute(db.followedBy(compiled.map((each) => ({ text: each.sql, values: each.parameters }))))
    ).rows;
  }
  const work = async (trx: Kysely<Tables>): Promise<ChangeRow[]> => {
    const { rows } = await statement.execute(trx);
    for (const each of after) await each.execute(trx);
    return rows;
  };
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

function countAnomalies(rows: readonly ChangeRow[]): Record<Anomaly, number> {
  const sum = (anomaly: Anomaly): number => rows.reduce((total, row) => total + row[anomaly], 0);
  return Object.fromEntries(anomalies.map((anomaly) => [anomaly, sum(anomaly)])) as Record<Anomaly, number>;
}
