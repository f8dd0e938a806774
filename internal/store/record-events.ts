import type { AcceptedEvent } from '../event/event.ts';
import { anomalies, type Anomaly, type StoredBatch } from '../outcome/stored-batch.ts';
import type { Database } from './database.ts';
import { isDuplicate } from './errors.ts';
import { insertAndMerge, type ChangeRow } from './record-events-statement.ts';

/**
 * Inserts a batch and moves the outcomes of its executions, in one statement. Stored events are
 * ignored, and only inserted rows count, so redelivery changes nothing. Both inserts are sorted by
 * key, so that concurrent statements cannot deadlock. The merge is commutative (least, greatest,
 * sum); `test/support/outcome-oracle.ts` says the same in TypeScript. With `leaves`, the statement
 * appends the leaf of each inserted event to the log too.
 */
export async function recordEvents(
  db: Database,
  events: readonly AcceptedEvent[],
  { leaves = false }: { leaves?: boolean } = {},
): Promise<StoredBatch> {
  const rows = await insertSkippingDuplicatesOnceMet(db, events, leaves);
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

/**
 * Assumes that all events are new, and looks for duplicates only after Postgres found one. Looking
 * each time takes a fifth more CPU time of Postgres (test/bench/README.md).
 */
async function insertSkippingDuplicatesOnceMet(
  db: Database,
  events: readonly AcceptedEvent[],
  leaves: boolean,
): Promise<ChangeRow[]> {
  try {
    return (await insertAndMerge(events, { duplicates: 'refuse', leaves }).execute(db)).rows;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return (await insertAndMerge(events, { duplicates: 'skip', leaves }).execute(db)).rows;
  }
}

function countAnomalies(rows: readonly ChangeRow[]): Record<Anomaly, number> {
  const sum = (anomaly: Anomaly): number => rows.reduce((total, row) => total + row[anomaly], 0);
  return Object.fromEntries(anomalies.map((anomaly) => [anomaly, sum(anomaly)])) as Record<Anomaly, number>;
}
