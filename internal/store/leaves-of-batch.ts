import { digestOf } from '../event/digest.ts';
import type { AcceptedEvent } from '../event/event.ts';
import { leafSize, writeLeaf } from '../log/leaf.ts';

/** Leaves of a batch: those of each organization, one after the other. */
export function leavesByOrganization(events: readonly AcceptedEvent[]): Map<string, Buffer> {
  const groups = Map.groupBy(events, ({ organization }) => organization);
  return new Map(Array.from(groups, ([organization, own]) => [organization, joinedLeaves(own)]));
}

function joinedLeaves(events: readonly AcceptedEvent[]): Buffer {
  // Zeros: a damaged digest leaves some of its bytes out.
  const leaves = Buffer.alloc(events.length * leafSize);
  let at = 0;
  for (const event of events) {
    writeLeaf(leaves, at, event.id, event.digest ?? digestOf(event));
    at += leafSize;
  }
  return leaves;
}

/** The leaf of each event of a batch. */
export function leavesOf(events: readonly AcceptedEvent[]): Buffer[] {
  return events.map((event) => joinedLeaves([event]));
}
