import { openCheckpoint, type TreeHead } from '../log/checkpoint.ts';
import type { VerifierKey } from '../log/keys.ts';
import { UnknownSigner } from '../log/note.ts';
import type { Database } from '../store/database.ts';
import { listPartitions } from '../store/partitions.ts';
import { sql } from '../store/sql.ts';
import { checkTree, toleranceMs, type CheckedTree } from './check-tree.ts';
import { compareRecord } from './compare-record.ts';
import { differingExecution } from './differing-execution.ts';
import { CannotCheck, type AuditReport, type Finding, type OnProgress } from './finding.ts';
import { readErased, readLog, readLogLeaves, type LogRow, type Reading } from './read-database.ts';
import { changedCheckpoint, unknownSigner } from './shown-checkpoint.ts';
import { inSnapshot } from './snapshot.ts';

/** The log to compare with the record in Postgres. */
export interface DatabaseAudit {
  organization: string;
  keys: readonly VerifierKey[];
  /** Heads of checkpoints that somebody kept. */
  kept?: readonly TreeHead[];
  /**
   * Retention keeps the events from this day on (ms since the Unix epoch). Unless given, the first
   * partition says from which: then a partition that somebody dropped looks expired.
   */
  retainedSince?: number | undefined;
  onProgress?: OnProgress;
}

/**
 * Compares the log of an organization with its checkpoints, with each of its events, and the
 * executions with their events, beside each other in one snapshot of the database.
 * @throws {CannotCheck} when the organization has no log.
 */
export function auditDatabase(db: Database, audit: DatabaseAudit): Promise<AuditReport> {
  const { organization, kept = [], retainedSince } = audit;
  return inSnapshot(db, async (trx, beside) => {
    const { heads, newest, wrong } = await readHeads(trx, audit);
    const log = await readLog(trx, organization);
    const { began, complete } = log;
    const erased = await readErased(trx, organization);
    const since = retainedSince ?? (await firstKeptDay(trx));
    const total = 2 * newest;
    let [leaves, looked] = [0, { leaves: 0, events: 0 }];
    const report = (): void => audit.onProgress?.({ done: leaves + looked.leaves, total, events: looked.events });
    const [tree, events, execution] = await Promise.all([
      beside((own) =>
        checkTree(readLogLeaves(own, organization), [...heads, ...kept], (size) => {
          leaves = size;
          report();
        }),
      ),
      beside((own) =>
        compareRecord({ trx, beside: own, organization, erased, complete: complete !== null, since }, (now) => {
          looked = now;
          report();
        }),
      ),
      beside((own) => differingExecution(own, organization, since)),
    ]);
    // An event that expired before the log began has no leaf that would be absent.
    const noneExpired = events.absent + events.uncovered === 0 && tree.oldest > began.getTime() - toleranceMs;
    return {
      findings: [
        ...wrong,
        ...tree.findings,
        ...differingLog(tree, events.sealed, log),
        ...erased.findings,
        ...events.findings,
        ...(execution !== undefined && (execution.certain || noneExpired) ? [execution] : []),
      ],
      leaves: tree.size,
      compared: events.compared - events.uncovered,
      waiting: events.waiting + tree.size - newest,
      absent: events.absent,
      uncovered: events.uncovered,
      overdue: tree.overdue + events.overdue,
      late: tree.late,
      erased: events.erased,
      erasures: erased.notes,
      checkpoints: heads.length + kept.length,
      beginning: { began, complete },
    };
  });
}

async function readHeads(trx: Reading, { organization, keys }: DatabaseAudit) {
  const { rows } = await sql<{ hour: Date; note: string }>`
    select hour, note from log_checkpoints where organization = ${organization} order by hour
  `.execute(trx);
  if (rows.length === 0) throw new CannotCheck(`There is no checkpoint of ${organization}.`);
  const heads: TreeHead[] = [];
  const wrong: Finding[] = [];
  for (const { hour, note } of rows) {
    try {
      heads.push(openCheckpoint(note, organization, keys));
    } catch (error) {
      if (error instanceof UnknownSigner) throw unknownSigner(`the checkpoint of ${minuteOf(hour)}`);
      // Other texts that the sealer did not write count as changed, too.
      wrong.push(changedCheckpoint(error));
    }
  }
  return { heads, wrong, newest: Math.max(0, ...heads.map(({ size }) => size)) };
}

/** A time as `2026-11-21 10:00`, UTC. */
function minuteOf(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ');
}

/** The findings about leaves outside of the tree, and about what the sealer keeps beside them. */
function differingLog(tree: CheckedTree, sealed: number, { size, frontier, hashes }: LogRow): Finding[] {
  if (tree.findings.length > 0) return [];
  if (sealed !== tree.size) {
    return [{ sentence: `The log has ${sealed} leaves, of which ${tree.size} have a place: others were added.` }];
  }
  const isSame = Number(size) === tree.size && tree.frontier.equals(frontier) && tree.hashes.equals(hashes);
  return isSame ? [] : [{ sentence: 'The hashes that the log has are not those of its leaves: they were changed.' }];
}

/** The first day with a partition. Retention has deleted older events, a whole day at a time. */
async function firstKeptDay(trx: Reading): Promise<number> {
  const partitions = await listPartitions(trx);
  return partitions[0]?.from ?? 0;
}
