import type { AcceptedEvent } from '../event/event.ts';
import { anomalies, type Anomaly, type StoredBatch } from '../outcome/stored-batch.ts';
import type { Database } from './database.ts';
import { isDuplicate } from './errors.ts';
import { insertAndMerge, type ChangeRow } from './record-events-statement.ts';

/**
 * Inserts a batch and moves the outcomes of its executions, in one statement and so atomically.
 *
 * Events that are there already are ignored, and only rows really inserted count: redelivery
 * changes nothing. Both inserts are sorted by key, so that concurrent statements cannot deadlock.
 * The merge is commutative (least, greatest, sum), so that order and batching do not matter;
 * `test/support/outcome-oracle.ts` says the same in TypeScript.
 */
export async function recordEvents(db: Database, events: readonly AcceptedEvent[]): Promise<StoredBatch> {
  const rows = await insertSkippingDuplicatesOnceMet(db, events);
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
 * Nearly every statement holds new events only. So duplicates are not looked for until Postgres
 * finds one: looking for each takes it a fifth more CPU time (test/bench/README.md).
 */
async function insertSkippingDuplicatesOnceMet(db: Database, events: readonly AcceptedEvent[]): Promise<ChangeRow[]> {
  try {
    return (await insertAndMerge(events, 'refuse').execute(db)).rows;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return (await insertAndMerge(events, 'skip').execute(db)).rows;
  }
}

function countAnomalies(rows: readonly ChangeRow[]): Record<Anomaly, number> {
  const sum = (anomaly: Anomaly): number => rows.reduce((total, row) => total + row[anomaly], 0);
  return Object.fromEntries(anomalies.map((anomaly) => [anomaly, sum(anomaly)])) as Record<Anomaly, number>;
}
