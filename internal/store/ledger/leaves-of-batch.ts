import { readSeals, saltSize, sealOf, sealSize } from '../../event/digest.ts';
import type { AcceptedEvent } from '../../event/event.ts';
import { leafSize, startLeaf } from '../../ledger/leaf.ts';
import { macOf, type MacKey } from '../../ledger/mac.ts';

/** What a worker with a log stores beside the events of a batch, in the same order. */
export interface BatchProof {
  /** Concatenated. Each begins with the salt: zeros for an event without texts. */
  readonly seals: Buffer;
  /** Concatenated. */
  readonly leaves: Buffer;
  /** The key of their MACs. */
  readonly key: MacKey;
}

/** Makes the leaves of a batch. Seals that ingest made are kept. */
export function proofOf(events: readonly AcceptedEvent[], key: MacKey): BatchProof {
  const seals = readSeals(events.map((event) => event.seal ?? sealOf(event)));
  const leaves = Buffer.allocUnsafe(events.length * leafSize);
  for (const [at, { id }] of events.entries()) {
    const digest = startLeaf(leaves, at * leafSize, id);
    seals.copy(leaves, digest, at * sealSize + saltSize, (at + 1) * sealSize);
  }
  return { seals, leaves, key };
}

/** Leaves of an organization under one MAC, which get their places together. */
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
