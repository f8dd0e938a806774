import type { TreeHead } from '../../ledger/checkpoint.ts';
import type { VerifierKey } from '../../ledger/keys.ts';
import { readLeaf, timeOfId } from '../../ledger/leaf.ts';
import { leavesOfBundle, tilePath, tilesOf } from '../../ledger/tiles.ts';
import { describeActs } from './acts.ts';
import { checkTree, toleranceMs } from './check-tree.ts';
import { byId, compareEvents, lostEvent } from './compare-events.ts';
import type { Erased } from './erased.ts';
import { givenErasures, readRecords } from './given-erasures.ts';
import { exportedEvent } from './exported-event.ts';
import { CannotCheck, NotServed, type AuditReport, type Finding, type OnProgress } from './finding.ts';
import { checkManifest, type GivenManifest } from './check-manifest.ts';
import { endsOf, LeavesBetween, timeOfEnd, type Ends } from './leaves-between.ts';
import { Parts } from './parts.ts';
import { servedActs } from './served-acts.ts';
import { openShown } from './shown-checkpoint.ts';

/** Reads a file of a served log by its path below the log's prefix. */
export type ReadServed = (path: string) => Promise<Buffer>;

/** The served log to check, and the export to compare it with. */
export interface ExportAudit {
  organization: string;
  keys: readonly VerifierKey[];
  read: ReadServed;
  /** Lines of NDJSON, oldest first, which are read twice; undefined checks only the log. */
  lines?: (() => AsyncIterable<string>) | undefined;
  /** Records of erasures, as lines that `erase` printed. */
  erasures?: AsyncIterable<string> | undefined;
  /** Heads of checkpoints that somebody kept. */
  kept?: readonly TreeHead[];
  /** True if the export was filtered: then an event that it lacks is no finding. */
  partial?: boolean;
  /** The manifest beside the export; without one, the export may end anywhere. */
  manifest?: GivenManifest | undefined;
  onProgress?: OnProgress;
}

/** A report that has compared nothing. */
export const nothingCompared: AuditReport = {
  findings: [],
  problems: [],
  leaves: 0,
  compared: 0,
  waiting: 0,
  absent: 0,
  uncovered: 0,
  overdue: 0,
  late: 0,
  erased: 0,
  erasures: [],
  checkpoints: 0,
  checkpoint: undefined,
  acts: [],
};

/** Most events that are compared at once. */
const pageSize = 10_000;

/**
 * Compares a served log with its checkpoints and an export. Unless it is partial, the export must
 * have each event of its range or, without one, between its first and last event.
 * @throws {CannotCheck} when a part of the log cannot be read.
 */
export async function auditExport(audit: ExportAudit): Promise<AuditReport> {
  const checkpoint = await readCheckpointOf(audit);
  if (typeof checkpoint !== 'string') return { ...nothingCompared, findings: [checkpoint] };
  const shown = openShown(checkpoint, audit);
  if ('finding' in shown) return { ...nothingCompared, checkpoint, findings: [shown.finding] };
  const { head } = shown;
  const records = audit.erasures && (await readRecords(audit.erasures));
  const ends = audit.lines && (await endsOf(audit.lines(), audit.organization));
  const between = new LeavesBetween(ends, audit.manifest?.range);
  const heads = [head, ...(audit.kept ?? [])];
  const lacking: Finding[] = [];
  const served = readLeaves(head.size, audit.read, lacking);
  const { findings, late } = await checkTree(between.pass(served), heads, (leaves) =>
    audit.onProgress?.({ done: leaves, total: head.size, events: 0, leaves }),
  );
  if (lacking.length > 0) return { ...nothingCompared, checkpoint, findings: lacking };
  const leaves = byId(between.ofEvents);
  const erased = await givenErasures(records, byId(between.ofErasures), audit.lines !== undefined);
  findings.push(...erased.findings);
  const parts = new Parts();
  if (audit.manifest !== undefined) checkManifest(audit.manifest, between, { findings, parts });
  const acts = await servedActs(audit.read, between, parts);
  const compared = await compareLines(audit, leaves, between.newest, erased, findings);
  if (audit.partial !== true && erased.incomplete === undefined) {
    const required = between.requiredAfter(acts?.proven ?? []);
    const lost = new Set(required.map((leaf) => readLeaf(leaf).id).filter((id) => leaves.has(id)));
    // A hundred thousand findings as arguments of one push would not fit on the stack.
    for (const id of [...lost].sort()) if (!erased.isErased(id)) findings.push(lostEvent(id));
  }
  if (erased.incomplete !== undefined) parts.add(erased.incomplete);
  const isOpen = ends !== undefined && audit.manifest === undefined && audit.partial !== true;
  if (isOpen) parts.add(openEnds(ends));
  findings.push(...(acts?.findings ?? []));
  const absent = [...leaves.keys()].filter((id) => !erased.isErased(id)).length;
  return {
    ...nothingCompared,
    checkpoint,
    findings,
    problems: parts.problems,
    leaves: head.size,
    compared: compared.events,
    absent: absent + between.beyond,
    uncovered: compared.uncovered,
    late,
    erased: erased.notes.reduce((sum, { events }) => sum + events, 0),
    erasures: erased.notes,
    checkpoints: heads.length,
    proven: acts?.proven,
    acts: describeActs(acts?.proven ?? []),
  };
}

/**
 * Takes each event of the export out of `leaves`. Resolves with the number of events compared, and
 * of those without a leaf because they are newer than the log, with about an hour of tolerance.
 */
async function compareLines(
  audit: ExportAudit,
  leaves: Map<string, Buffer[]>,
  newest: number,
  erased: Erased,
  findings: Finding[],
): Promise<{ events: number; uncovered: number }> {
  const { size } = leaves;
  // Concurrent workers do not seal events in the order of their ids.
  const excusedAfter = newest - toleranceMs;
  let [compared, uncovered] = [0, 0];
  let page: string[] = [];
  const flush = (): void => {
    const exported = page.map((line) => exportedEvent(line, audit.organization));
    const events = exported.filter(({ id }) => leaves.has(id) || timeOfId(id) <= excusedAfter);
    uncovered += exported.length - events.length;
    findings.push(...compareEvents(events, leaves, erased));
    for (const { id } of events) leaves.delete(id);
    compared += events.length;
    page = [];
    audit.onProgress?.({ done: size, total: size, events: compared });
  };
  for await (const line of audit.lines?.() ?? []) {
    if (line !== '') page.push(line);
    if (page.length >= pageSize) flush();
  }
  flush();
  return { events: compared, uncovered };
}

/** Reads the newest checkpoint. If somebody kept one, a missing log is a finding. */
async function readCheckpointOf({ read, kept = [], organization }: ExportAudit): Promise<string | Finding> {
  try {
    return (await read('checkpoint')).toString();
  } catch (error) {
    // An unavailable console is no evidence, and one without a log is.
    const size = Math.max(0, ...kept.map((head) => head.size));
    if (!(error instanceof NotServed) || size === 0) throw error;
    return { sentence: `There is no log of ${organization}, and a checkpoint of ${size} leaves was signed.` };
  }
}

/** Explains that nothing says what an export without a manifest should have. */
function openEnds({ first, last }: Ends): string {
  return (
    `The export has no manifest, so it is complete between ${timeOfEnd(first)} and ${timeOfEnd(last)} only: ` +
    'events before and after may be missing.'
  );
}

/**
 * The leaves of a log of this size, a tile at a time. Ends with a finding at one that is not there.
 */
async function* readLeaves(size: number, read: ReadServed, lacking: Finding[]): AsyncGenerator<Buffer> {
  for (const tile of tilesOf(size)) {
    if (tile.level !== 'entries') return;
    const path = tilePath(tile);
    try {
      yield leavesOfBundle(await read(path));
    } catch (error) {
      if (error instanceof NotServed) {
        lacking.push({
          sentence: `The log lacks ${path}, although its checkpoint has ${size} leaves: it was removed.`,
        });
        return;
      }
      if (error instanceof CannotCheck) throw error;
      throw new CannotCheck(`The log has no readable ${path}.`, { cause: error });
    }
  }
}
