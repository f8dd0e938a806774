import { readSeals, saltSize, sealOf, sealSize } from '../../event/digest.ts';
import type { AcceptedEvent } from '../../event/event.ts';
import { leafSize, startLeaf } from '../../ledger/leaf.ts';
import { macOf, type MacKey } from '../../ledger/mac.ts';

/** What a batch stores beside its events, in their order, one after the other. */
export interface BatchProof {
  /** 16 bytes each: zeros for an event without texts. */
  readonly salts: Buffer;
  readonly leaves: Buffer;
}

/** Makes the salts and the leaves of a batch. Seals that ingest made are kept. */
export function proofOf(events: readonly AcceptedEvent[]): BatchProof {
  const seals = readSeals(events.map((event) => event.seal ?? sealOf(event)));
  const salts = Buffer.allocUnsafe(events.length * saltSize);
  const leaves = Buffer.allocUnsafe(events.length * leafSize);
  let [from, leaf] = [0, 0];
  for (const { id } of events) {
    const digest = startLeaf(leaves, leaf, id);
    seals.copy(leaves, digest, from + saltSize, from + sealSize);
    seals.copy(salts, (from / sealSize) * saltSize, from, from + saltSize);
    from += sealSize;
    leaf += leafSize;
  }
  return { salts, leaves };
}

/** Leaves of an organization with their MAC, which get their places together. */
export interface Segment {
  readonly organization: string;
  readonly leaves: Buffer;
  readonly mac: Buffer;
}

/** A segment for each organization of a batch. */
export function segmentsOf(events: readonly AcceptedEvent[], leaves: Buffer, key: MacKey): Segment[] {
  const first = events[0]?.organization ?? '';
  if (events.every(({ organization }) => organization === first)) return [segmentOf(first, leaves, key)];
  const places = Map.groupBy(events.keys(), (at) => events[at]?.organization ?? '');
  return Array.from(places, ([organization, own]) =>
    segmentOf(organization, Buffer.concat(own.map((at) => leafAt(leaves, at))), key),
  );
}

/** A segment of leaves. */
export function segmentOf(organization: string, leaves: Buffer, key: MacKey): Segment {
  return { organization, leaves, mac: macOf(key, organization, leaves) };
}

/** The leaf at a place. */
export function leafAt(leaves: Buffer, at: number): Buffer {
  return leaves.subarray(at * leafSize, (at + 1) * leafSize);
}
