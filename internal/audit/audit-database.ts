import { openCheckpoint, type TreeHead } from '../log/checkpoint.ts';
import { isErasure } from '../log/erasure.ts';
import type { VerifierKey } from '../log/keys.ts';
import type { StoredEvent } from '../log/stored-json.ts';
import type { Database } from '../store/database.ts';
import { listPartitions } from '../store/partitions.ts';
import { sql } from '../store/sql.ts';
import { checkTree } from './check-tree.ts';
import { byId, compareEvents, lostEvent, timeOfId } from './compare-events.ts';
import { differingExecution } from './differing-execution.ts';
import type { Erased } from './erased.ts';
import { CannotCheck, wrongSignature, type AuditReport, type Finding, type OnProgress } from './finding.ts';
import { leavesBetween, readErased, readEvents, readLogLeaves, type Reading } from './read-database.ts';
import { inSnapshot } from './snapshot.ts';

export interface DatabaseAudit {
  organization: string;
  keys: readonly VerifierKey[];
  /** Heads of checkpoints that somebody kept. */
  kept?: readonly TreeHead[];
  onProgress?: OnProgress;
}

/**
 * Compares the log of an organization with its checkpoints, with each of its events, and the
 * executions with their events, beside each other in one snapshot of the database.
 * @throws {CannotCheck} when the organization has no log.
 */
export function auditDatabase(db: Database, audit: DatabaseAudit): Promise<AuditReport> {
  const { organization, kept = [] } = audit;
  return inSnapshot(db, async (trx, beside) => {
    const { heads, newest, wrong } = await readHeads(trx, audit);
    const erased = await readErased(trx, organization);
    const since = await firstKeptDay(trx);
    let [leaves, compared] = [0, 0];
    const [tree, events, execution] = await Promise.all([
      beside((own) =>
        checkTree(readLogLeaves(own, organization), [...heads, ...kept], (looked) => {
          leaves = looked;
          audit.onProgress?.(leaves + compared);
        }),
      ),
      beside((own) =>
        compareAll(trx, readEvents(own, organization), { organization, erased, since }, (looked) => {
          compared = looked;
          audit.onProgress?.(leaves + compared);
        }),
      ),
      beside((own) => differingExecution(own, organization, since)),
    ]);
    return {
      findings: [
        ...wrong,
        ...tree.findings,
        ...erased.findings,
        ...events.findings,
        ...(execution === undefined ? [] : [execution]),
      ],
      leaves: tree.size,
      compared: events.compared,
      waiting: events.waiting + tree.size - newest,
      absent: events.absent,
      uncovered: events.uncovered,
      erased: events.erased,
      erasures: erased.notes,
      checkpoints: heads.length + kept.length,
    };
  });
}

async function readHeads(trx: Reading, { organization, keys }: DatabaseAudit) {
  const { rows } = await sql<{ note: string; size: string }>`
    select note, size from log_checkpoints where organization = ${organization} order by hour
  `.execute(trx);
  if (rows.length === 0) throw new CannotCheck(`There is no checkpoint of ${organization}.`);
  const heads: TreeHead[] = [];
  const wrong: Finding[] = [];
  for (const { note } of rows) {
    try {
      heads.push(openCheckpoint(note, organization, keys));
    } catch (error) {
      wrong.push(wrongSignature(error));
    }
  }
  return { heads, wrong, newest: Math.max(0, ...heads.map(({ size }) => size)) };
}

interface Comparison {
  findings: Finding[];
  compared: number;
  waiting: number;
  absent: number;
  uncovered: number;
  erased: number;
}

/** Events and leaves, in the order of their ids, a page of events at a time. */
async function compareAll(
  trx: Reading,
  pages: AsyncIterable<StoredEvent[]>,
  { organization, erased, since }: { organization: string; erased: Erased; since: number },
  onProgress: OnProgress,
): Promise<Comparison> {
  const complete = await isComplete(trx, organization);
  const result: Comparison = { findings: [], compared: 0, waiting: 0, absent: 0, uncovered: 0, erased: 0 };
  let after: string | undefined;
  for await (const events of pages) {
    const last = events.at(-1)?.id;
    const { sealed, waiting } = await leavesBetween(trx, organization, after, last);
    const leaves = byId([...sealed, ...waiting]);
    const found = compareEvents(events, leaves, erased);
    // Not complete: an event without a leaf may be older than the log.
    const excused = complete ? [] : found.filter(({ event = '' }) => !leaves.has(event));
    result.uncovered += excused.length;
    result.findings.push(...(excused.length === 0 ? found : found.filter(({ event = '' }) => leaves.has(event))));
    const present = new Set(events.map(({ id }) => id));
    for (const [id, own] of leaves) {
      if (present.has(id)) continue;
      if (own.some(isErasure)) result.findings.push(...erased.lost(id));
      else if (erased.has(id)) result.erased += 1;
      else if (timeOfId(id) < since) result.absent += 1;
      else result.findings.push(lostEvent(id));
    }
    result.erased += events.filter((event) => erased.hasTextsOf(event)).length;
    result.compared += events.length;
    result.waiting += waiting.length;
    after = last;
    onProgress(result.compared);
  }
  return result;
}

/** The first day with a partition. Retention has deleted older events, a whole day at a time. */
async function firstKeptDay(trx: Reading): Promise<number> {
  const partitions = await listPartitions(trx);
  return partitions[0]?.from ?? 0;
}

async function isComplete(trx: Reading, organization: string): Promise<boolean> {
  const { rows } = await sql<{ complete: boolean }>`
    select complete_at is not null as complete from log_trees where organization = ${organization}
  `.execute(trx);
  return rows[0]?.complete ?? false;
}
