import { openCheckpoint, type TreeHead } from '../../ledger/checkpoint.ts';
import { originOf, type VerifierKey } from '../../ledger/keys.ts';
import { UnknownSigner } from '../../ledger/note.ts';
import { messageOf } from '../../kit/errors/message-of.ts';
import type { Database } from '../../store/database.ts';
import { listColdObjects } from '../../store/partitions/cold-days.ts';
import type { ColdArchive, ColdObject } from '../../store/tables/cold-days-table.ts';
import { dayAfter, isoDay } from '../../store/partitions/days.ts';
import { listPartitions } from '../../store/partitions/partitions.ts';
import { sql } from '../../store/sql.ts';
import { ArchiveAway, ArchiveDamaged } from '../archive/archive-errors.ts';
import { checkTables } from './check-tables.ts';
import { checkTree, type CheckedTree } from './check-tree.ts';
import { compareRecord, nothingCompared, type Comparison } from './compare-record.ts';
import { differingBlocks } from './differing-blocks.ts';
import { differingExecution, differingRunning } from './differing-executions.ts';
import { Acts, describeActs, expiredBefore } from './acts.ts';
import { Erased } from './erased.ts';
import { CannotCheck, type AuditReport, type Finding, type OnProgress } from './finding.ts';
import { Parts } from './parts.ts';
import {
  readActs,
  readErased,
  readFragments,
  readLog,
  readLogLeaves,
  readRefused,
  timeOfOldestLeaf,
  type LogRow,
  type Reading,
  lostLetters,
  wrongRows,
} from './read-database.ts';
import { changedCheckpoint, unknownSigner } from './shown-checkpoint.ts';
import { inSnapshot, type Beside } from './snapshot.ts';

/** The log to compare with the record in Postgres. */
export interface DatabaseAudit {
  organization: string;
  keys: readonly VerifierKey[];
  /** Heads of checkpoints that somebody kept. */
  kept?: readonly TreeHead[];
  /**
   * Retention keeps the events from this day on (ms since the Unix epoch). Default: what the log
   * says that retention dropped.
   */
  retainedSince?: number | undefined;
  onProgress?: OnProgress;
}

/**
 * Compares the log of an organization with its checkpoints and its events, and the executions with
 * their events, concurrently in one snapshot of the database. What cannot be checked becomes a
 * problem in the report; the other parts continue.
 * @throws {CannotCheck} when the organization has no log and nobody kept a checkpoint of one.
 */
export function auditDatabase(db: Database, audit: DatabaseAudit): Promise<AuditReport> {
  const { organization, kept = [], retainedSince } = audit;
  return inSnapshot(db, async (beside) => {
    const parts = new Parts();
    const read: Beside = (work) => beside(work);
    const { heads, wrong, newest, checkpoint } = await parts.run('The checkpoints', noHeads, () =>
      read((own) => readHeads(own, audit, parts)),
    );
    const log = await parts.run('The log', undefined, () => read((own) => readLog(own, organization)));
    if (log === undefined && heads.length + wrong.length + kept.length === 0) {
      throw new CannotCheck(parts.problems[0] ?? `There is no log of ${organization}.`);
    }
    if (log === undefined) parts.add(`There is no log of ${organization}.`);
    const erased = await parts.run('The erasures', new Erased(), () => read((own) => readErased(own, organization)));
    const acts = await parts.run('The acts', new Acts(), () => read((own) => readActs(own, organization)));
    const tables = await parts.run('The tables', [], () => read((own) => checkTables(own, parts)));
    const letters = await parts.run('The dead letters', [], () =>
      read((own) => lostLetters(own, organization, acts.proven)),
    );
    const owners = await parts.run('The acts of owners', [], () =>
      read((own) => wrongRows(own, organization, acts.proven)),
    );
    const refused = await parts.run('The leaves', [], () => read((own) => readRefused(own, organization)));
    const first = await parts.run('The leaves', -Infinity, () => read((own) => timeOfOldestLeaf(own, organization)));
    const isAllSealed = acts.proven.some(({ kind }) => kind === 'older-events-sealed');
    const unsealedBefore = isAllSealed ? -Infinity : first;
    const fragments = await parts.run('The leaves', [], () => read((own) => readFragments(own, organization)));
    const expired = expiredBefore(acts.proven);
    const listed = await parts.run('The cold days', [], () => read((own) => listColdObjects(own, organization)));
    const invented = listed.filter((object) => dayAfter(object.day) > first && !hasManifest(acts, object));
    const cold = listed.filter((object) => !invented.includes(object));
    const coldUntil = Math.max(-Infinity, ...cold.map(({ day }) => dayAfter(day)));
    const keptSince = Math.min(expired, retainedSince ?? Infinity);
    const damaged: Finding[] = [];
    const compareAll = async (archive?: ColdArchive): Promise<Comparison | undefined> => {
      if (archive === undefined && cold.length > 0) parts.add(coldProblem(cold));
      // Without the archive, events of cold days count as absent.
      const since = archive === undefined ? Math.max(coldUntil, keptSince) : keptSince;
      try {
        return await read((trx) =>
          read((own) =>
            compareRecord(
              { trx, beside: own, organization, archive, cold, erased, acts, unsealedBefore, since },
              (now) => {
                looked = now;
                report();
              },
            ),
          ),
        );
      } catch (error) {
        const sentence = `${messageOf(error)}.`;
        if (error instanceof ArchiveDamaged) damaged.push({ sentence });
        else if (error instanceof ArchiveAway) parts.add(sentence);
        else throw error;
        return compareAll();
      }
    };
    const firstKept = retainedSince ?? (await parts.run('The first day', 0, () => read(firstKeptDay)));
    const firstDay = Math.max(coldUntil, firstKept);
    const total = 2 * newest;
    let [leaves, looked] = [0, { leaves: 0, events: 0 }];
    const report = (): void => audit.onProgress?.({ done: leaves + looked.leaves, total, events: looked.events });
    const [tree, compared, execution, running, blocks] = await Promise.all([
      parts.run('The leaves', undefined, () =>
        read((own) =>
          checkTree(readLogLeaves(own, organization), [...heads, ...kept], (size) => {
            leaves = size;
            report();
          }),
        ),
      ),
      parts.run('The events', undefined, () => compareAll(db.archive)),
      parts.run('The executions', undefined, () =>
        read((own) => differingExecution(own, organization, Math.max(expired, firstDay))),
      ),
      parts.run('The running executions', [], () => read((own) => differingRunning(own, organization))),
      parts.run('The compacted executions', [], () => read((own) => differingBlocks(own, organization))),
    ]);
    const events = compared ?? nothingCompared();
    const oldest = tree?.oldest ?? Infinity;
    // An event that expired before the log began never had a leaf.
    const noneExpired = events.absent + events.uncovered + cold.length === 0 && !isAllSealed;
    return {
      findings: [
        ...tables,
        ...wrong,
        ...damaged,
        ...fragments,
        ...refused,
        ...(tree?.findings ?? []),
        ...(tree === undefined
          ? []
          : [...foreignEnd(tree, log), ...differingLog(tree, compared?.sealed ?? tree.size, log)]),
        ...erased.findings,
        ...acts.findings,
        ...letters,
        ...owners,
        ...invented.map(inventedObject),
        ...events.findings,
        ...(execution !== undefined && (execution.certain || noneExpired) ? [execution] : []),
        ...running,
        ...blocks,
      ],
      problems: parts.problems,
      leaves: tree?.size ?? 0,
      compared: events.compared - events.uncovered,
      waiting: events.waiting + Math.max(0, (tree?.size ?? 0) - newest),
      absent: events.absent,
      uncovered: events.uncovered,
      firstUncovered: events.firstUncovered,
      overdue: (tree?.overdue ?? 0) + events.overdue,
      late: tree?.late ?? 0,
      erased: events.erased,
      erasures: erased.notes,
      checkpoints: heads.length + kept.length,
      checkpoint,
      proven: acts.proven,
      cold,
      acts: describeActs(acts.proven),
      since: Number.isFinite(oldest) ? new Date(oldest) : undefined,
    };
  });
}

/** True if the log has the manifest of an object. */
function hasManifest(acts: Acts, { day, object, manifestSha256 }: ColdObject): boolean {
  return acts.proven.some(
    ({ kind, details }) =>
      kind === 'manifest' &&
      details['day'] === isoDay(day) &&
      details['object'] === object &&
      details['sha256'] === manifestSha256,
  );
}

function inventedObject({ day, object }: ColdObject): Finding {
  return {
    sentence: `The list of cold days has ${object} of ${isoDay(day)}, and the log has no such manifest: it was added.`,
  };
}

/** Says which events were not compared one by one. */
function coldProblem(objects: readonly ColdObject[]): string {
  const days = [...new Set(objects.map(({ day }) => isoDay(day)))].sort();
  const rows = objects.reduce((sum, object) => sum + object.rows, 0);
  return (
    `${rows} events from ${days[0]} to ${days.at(-1)} are in the archive only, and were not compared one by one: ` +
    '--archive does that.'
  );
}

/** The heads of the checkpoints, and the newest checkpoint. */
interface Heads {
  heads: TreeHead[];
  wrong: Finding[];
  newest: number;
  checkpoint: string | undefined;
}

/** A checkpoint, the sizes that its row has, and its root if the row has it. */
interface CheckpointRow {
  hour: Date;
  note: string;
  published: boolean;
  sizes: (string | null)[];
  root: Uint8Array | null;
}

const noHeads: Heads = { heads: [], wrong: [], newest: 0, checkpoint: undefined };

async function readHeads(trx: Reading, { organization, keys }: DatabaseAudit, parts: Parts): Promise<Heads> {
  const { rows } = await sql<CheckpointRow>`
    select hour, published_note as note, true as published, array[published_size] as sizes, null as root
    from log_checkpoints
    where organization = ${organization} and published_note is not null and published_note <> note
    union all
    select hour, note, published_note is not distinct from note as published,
      case when published_note = note then array[size, published_size] else array[size] end as sizes, root
    from log_checkpoints where organization = ${organization}
    order by hour, published desc
  `.execute(trx);
  if (rows.length === 0) parts.add(`There is no checkpoint of ${organization}.`);
  const heads: TreeHead[] = [];
  const wrong: Finding[] = [];
  let [newest, checkpoint]: [number, string | undefined] = [0, undefined];
  for (const { hour, note, published, sizes, root } of rows) {
    try {
      const head = openCheckpoint(note, organization, keys);
      heads.push(head);
      const isSame = sizes.every((size) => Number(size) === head.size) && head.root.equals(root ?? head.root);
      if (!isSame) wrong.push({ sentence: `The row of the checkpoint of ${minuteOf(hour)} was changed.` });
      newest = Math.max(newest, head.size);
      if (published) checkpoint = note;
    } catch (error) {
      // Other texts that the sealer did not write also count as changed.
      if (!(error instanceof UnknownSigner)) wrong.push(changedCheckpoint(error));
      else if (isOf(organization, note)) parts.add(unknownSigner(`the checkpoint of ${minuteOf(hour)}`).message);
      else wrong.push(changedCheckpoint(new Error('it is of another log')));
    }
  }
  return { heads, wrong, newest, checkpoint };
}

/** True if a checkpoint is of the log of this organization, whatever its key is called. */
function isOf(organization: string, note: string): boolean {
  return note.split('\n', 1).join().endsWith(originOf('', organization));
}

/** A time as `2026-11-21 10:00`, UTC. */
function minuteOf(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ');
}

/** The findings about the row of a log that is gone, or that another than the sealer wrote. */
function foreignEnd(tree: CheckedTree, log: LogRow | undefined): Finding[] {
  if (log === undefined) {
    return tree.size === 0 ? [] : [{ sentence: 'The log has lost its size and its hashes: they were removed.' }];
  }
  if (!log.refused) return [];
  const end = tree.unsigned.length === 0 ? '' : ` It ends with the leaves of ${tree.unsigned.join(', ')}.`;
  return [{ sentence: `The end of the log was changed without a key, and no checkpoint signs it.${end}` }];
}

/** The findings about leaves outside the tree, and about what the sealer keeps beside them. */
function differingLog(tree: CheckedTree, sealed: number, log: LogRow | undefined): Finding[] {
  if (tree.findings.length > 0 || log === undefined) return [];
  const { size, frontier, hashes } = log;
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
