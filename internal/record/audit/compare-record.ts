import { isErasure } from '../../ledger/erasure.ts';
import { isAct, isEvent, leafSize, splitLeaves, timeOfId } from '../../ledger/leaf.ts';
import type { StoredPage } from '../../store/stored-events.ts';
import { byId, compareEvents, lostEvent } from './compare-events.ts';
import { comparedPages, type ComparedEvents } from './compared-pages.ts';
import type { Acts } from './acts.ts';
import type { Erased } from './erased.ts';
import type { Finding } from './finding.ts';
import { LeafReader, WrongTileIds } from './leaf-reader.ts';
import type { Reading } from './read-database.ts';
import { countOverdue } from './check-tree.ts';

/** The findings about events and leaves, and how many of each there are. */
export interface Comparison {
  findings: Finding[];
  compared: number;
  waiting: number;
  /** Waiting leaves that should already have a checkpoint. */
  overdue: number;
  absent: number;
  uncovered: number;
  /** The id of the first uncovered event. */
  firstUncovered: string | undefined;
  erased: number;
  /** Leaves that have a place. */
  sealed: number;
}

/** What to compare: another connection, `beside`, reads events while `trx` reads leaves. */
export interface ComparedRecord extends ComparedEvents {
  trx: Reading;
  erased: Erased;
  acts: Acts;
  /**
   * Events accepted before this time (ms) may have been stored without a log and have no leaf yet.
   */
  unsealedBefore: number;
  /** Retention dropped events that were accepted before this time (ms). */
  since: number;
}

/** Receives how many leaves and how many events were compared. */
type OnCompared = (looked: { leaves: number; events: number }) => void;

/** A comparison before its start. */
export function nothingCompared(): Comparison {
  return {
    findings: [],
    compared: 0,
    waiting: 0,
    overdue: 0,
    absent: 0,
    uncovered: 0,
    firstUncovered: undefined,
    erased: 0,
    sealed: 0,
  };
}

/** Compares events and leaves, in the order of their ids, a page of events at a time. */
export async function compareRecord(record: ComparedRecord, onCompared: OnCompared): Promise<Comparison> {
  const { trx, organization } = record;
  try {
    return await compareWith(new LeafReader(trx, organization), record, onCompared);
  } catch (error) {
    if (!(error instanceof WrongTileIds)) throw error;
  }
  const log = new LeafReader(trx, organization);
  const wrong = await log.sortTiles();
  const result = await compareWith(log, record, onCompared);
  return { ...result, findings: [...wrong, ...result.findings] };
}

async function compareWith(log: LeafReader, record: ComparedRecord, onCompared: OnCompared): Promise<Comparison> {
  const result = nothingCompared();
  for await (const page of comparedPages(record)) {
    const { sealed, waiting } = await log.take(page.last?.id);
    const leaves = waiting.length === 0 ? sealed : Buffer.concat([sealed, waiting]);
    if (!areSame(page, leaves, record.erased)) compareEach(page, leaves, record, result);
    result.compared += page.ids.length;
    result.waiting += waiting.length / leafSize;
    result.overdue += countOverdue(waiting);
    result.sealed += sealed.length / leafSize;
    onCompared({ leaves: result.sealed, events: result.compared });
  }
  return result;
}

/** True if these are the leaves of a page. Takes a fraction of the time of comparing each. */
function areSame({ ids, times, leaves, hasErased }: StoredPage, ofLog: Buffer, erased: Erased): boolean {
  const [first, last] = [ids[0], ids.at(-1)];
  if (hasErased || (first !== undefined && last !== undefined && erased.namesAny(first, last))) return false;
  if (ofLog.length !== leaves.length || ids.some((id, at) => timeOfId(id) !== times[at])) return false;
  // Workers store events concurrently, so leaves are not in the order of ids.
  return ofLog.equals(leaves) || sorted(ofLog) === leaves.toString('latin1');
}

/** Sorts leaves by their ids, as texts with one character per byte. */
function sorted(leaves: Buffer): string {
  const texts = splitLeaves(leaves).map((leaf) => leaf.toString('latin1'));
  return texts.sort().join('');
}

/** Compares each event and each leaf of a page. */
function compareEach(
  page: StoredPage,
  ofLog: Buffer,
  { erased, acts, since, unsealedBefore }: ComparedRecord,
  result: Comparison,
): void {
  const events = page.ids.map((_, at) => page.eventAt(at));
  const leaves = byId(splitLeaves(ofLog));
  const found = compareEvents(events, leaves, erased);
  const isExcused = ({ event = '' }: Finding): boolean => !leaves.has(event) && timeOfId(event) < unsealedBefore;
  const [excused, others] = [found.filter(isExcused), found.filter((finding) => !isExcused(finding))];
  result.uncovered += excused.length;
  result.firstUncovered ??= excused[0]?.event;
  result.findings.push(...others);
  const present = new Set(page.ids);
  for (const [id, own] of leaves) {
    if (present.has(id)) continue;
    if (own.some(isErasure)) result.findings.push(...erased.lost(id));
    if (own.some((leaf) => isAct(leaf))) result.findings.push(...acts.lost(id));
    if (!own.some(isEvent)) continue;
    if (erased.isErased(id)) result.erased += 1;
    else if (timeOfId(id) < since) result.absent += 1;
    else result.findings.push(lostEvent(id));
  }
  result.erased += events.filter((event) => erased.lostTexts(event.id)).length;
}
