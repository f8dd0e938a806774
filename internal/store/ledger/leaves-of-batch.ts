import { readSeal, sealOf } from '../../event/digest.ts';
import type { AcceptedEvent } from '../../event/event.ts';
import { leafSize, writeLeaf } from '../../ledger/leaf.ts';
import { macOf, type MacKey } from '../../ledger/mac.ts';

/** What a worker with a log stores beside the events of a batch, in their order. */
export interface BatchProof {
  /** In hexadecimal digits; null for events without texts. */
  readonly salts: readonly (string | null)[];
  /** The leaves, one after the other. */
  readonly leaves: Buffer;
  /** The key of their MACs. */
  readonly key: MacKey;
}

/** Makes the salts and the leaves of a batch. Seals that ingest made are kept. */
export function proofOf(events: readonly AcceptedEvent[], key: MacKey): BatchProof {
  // Zeros: a damaged seal leaves some of its bytes out.
  const leaves = Buffer.alloc(events.length * leafSize);
  const salts = events.map((event, at) => {
    const { salt, digest } = event.seal === undefined ? sealOf(event) : readSeal(event.seal);
    writeLeaf(leaves, at * leafSize, event.id, digest);
    return salt?.toString('hex') ?? null;
  });
  return { salts, leaves, key };
}

/** Leaves of an organization with their MAC, which get their places together. */
export interface Segment {
  readonly organization: string;
  readonly leaves: Buffer;
  readonly mac: Buffer;
}

/** A segment for each organization of a batch. */
export function segmentsOf(events: readonly AcceptedEvent[], leaves: Buffer, key: MacKey): Segment[] {
  const places = Map.groupBy(events.keys(), (at) => events[at]?.organization ?? '');
  return Array.from(places, ([organization, own]) =>
    segmentOf(organization, places.size === 1 ? leaves : Buffer.concat(own.map((at) => leafAt(leaves, at))), key),
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
