import { isEvent, isLeaf, leafOf, readLeaf, timeOfId } from '../../ledger/leaf.ts';
import { textColumns, type StoredEvent } from '../../ledger/stored-json.ts';
import type { Erased } from './erased.ts';
import type { Finding } from './finding.ts';

/** The leaves of events whose ids are in a range, by id. */
export type LeavesById = ReadonlyMap<string, readonly Buffer[]>;

/**
 * Groups leaves by the ids of their events. Ignores what is no leaf: the tree check reports that.
 */
export function byId(leaves: Iterable<Buffer>): Map<string, Buffer[]> {
  const found = new Map<string, Buffer[]>();
  for (const leaf of leaves) {
    if (!isLeaf(leaf)) continue;
    const { id } = readLeaf(leaf);
    const own = found.get(id);
    if (own === undefined) found.set(id, [leaf]);
    else own.push(leaf);
  }
  return found;
}

/**
 * The findings about events in the record: each must be there once, and have one leaf that matches
 * it. Only an erasure in the log explains lost texts; such an event then has none.
 */
export function compareEvents(events: readonly StoredEvent[], leaves: LeavesById, erased: Erased): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  for (const event of events) {
    const isCopy = seen.has(event.id);
    const again = isCopy ? undefined : storedAgain(event, leaves.get(event.id), erased);
    const fault = isCopy ? 'is in the record twice: it was added' : faultOf(event, leaves.get(event.id), erased);
    seen.add(event.id);
    const found = { event: event.id, sentence: `Event ${event.id} ${again ?? fault}.` };
    if (again !== undefined) findings.push({ ...found, isExplained: true });
    else if (fault !== undefined) findings.push(found);
  }
  return findings;
}

/**
 * A worker that is killed between the record and the queue stores an event that was erased
 * meanwhile.
 */
function storedAgain(event: StoredEvent, leaves: readonly Buffer[] = [], erased: Erased): string | undefined {
  const erasure = erased.erasureOf(event.id);
  if (erasure === undefined || leaves.filter(isEvent).length < 2) return undefined;
  const own = leafOf(event);
  return leaves.some((leaf) => leaf.equals(own))
    ? `came again, and was stored again, after erasure ${erasure}: erase it once more`
    : undefined;
}

function faultOf(event: StoredEvent, leaves: readonly Buffer[] = [], erased: Erased): string | undefined {
  if (new Date(event.created_at ?? 0).getTime() !== timeOfId(event.id)) {
    return 'has another time of acceptance than its id: it was changed';
  }
  const own = leaves.filter(isEvent);
  if (own.length === 0) return 'is in the record, and not in the log: it was added';
  if (own.length > 1) return `has ${own.length} leaves in the log`;
  const erasure = erased.erasureOf(event.id);
  if (erasure !== undefined) return `is in the record, although erasure ${erasure} says that it is gone`;
  const lostTexts = erased.lostTexts(event.id);
  if (lostTexts && hasTexts(event)) return 'has texts that were erased: they were put back';
  if (!leafOf(event).equals(own[0] ?? Buffer.alloc(0))) return 'is not the one that the log has: it was changed';
  const isExplained = lostTexts || erased.incomplete !== undefined;
  const isUnexplained = !isExplained && (event.texts_digest ?? null) !== null;
  return isUnexplained ? 'has lost its texts, and no erasure in the log says so: they were removed' : undefined;
}

function hasTexts(event: StoredEvent): boolean {
  return textColumns.some((name) => (event[name] ?? '') !== '');
}

/** The finding about an event that only the log has. */
export function lostEvent(id: string): Finding {
  return { event: id, sentence: `Event ${id} is in the log, and not in the record: it was removed.` };
}
