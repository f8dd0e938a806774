import { leafOf, readLeaf } from '../log/leaf.ts';
import type { StoredEvent } from '../log/stored-json.ts';
import type { Erased } from './erased.ts';
import type { Finding } from './finding.ts';

/** The leaves of events whose ids are in a range, by id. */
export type LeavesById = ReadonlyMap<string, readonly Buffer[]>;

/** Groups leaves by the ids of their events. */
export function byId(leaves: Iterable<Buffer>): Map<string, Buffer[]> {
  const found = new Map<string, Buffer[]>();
  for (const leaf of leaves) {
    const { id } = readLeaf(leaf);
    const own = found.get(id);
    if (own === undefined) found.set(id, [leaf]);
    else own.push(leaf);
  }
  return found;
}

/**
 * The findings about events that are there: each has one leaf, of what it is now, unless it lost
 * its texts by an erasure.
 */
export function compareEvents(events: readonly StoredEvent[], leaves: LeavesById, erased: Erased): Finding[] {
  const findings: Finding[] = [];
  for (const event of events) {
    const fault = faultOf(event, leaves.get(event.id), erased);
    if (fault !== undefined) findings.push({ event: event.id, sentence: `Event ${event.id} ${fault}.` });
  }
  return findings;
}

function faultOf(event: StoredEvent, own: readonly Buffer[] | undefined, erased: Erased): string | undefined {
  if (new Date(event.created_at ?? 0).getTime() !== timeOfId(event.id)) {
    return 'has another time of acceptance than its id: it was changed';
  }
  const leaf = own?.[0];
  if (own === undefined || leaf === undefined) return 'is in the record, and not in the log: it was added';
  if (own.length > 1) return `has ${own.length} leaves in the log`;
  if (leaf.equals(leafOf(event)) || erased.hasTextsOf(event)) return undefined;
  return 'is not the one that the log has: it was changed';
}

/** The finding about an event that only the log has. */
export function lostEvent(id: string): Finding {
  return { event: id, sentence: `Event ${id} is in the log, and not in the record: it was removed.` };
}

/** The time in the id of an event (UUIDv7), in ms since the Unix epoch: when it was accepted. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
