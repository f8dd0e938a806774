import { leafKinds, leafSize, uuidAt, writeLeaf } from './leaf.ts';
import { sha256, sha256Text } from './hashing.ts';

/** The scopes of an erasure: `text` removes only texts of events, the others whole events. */
export const erasedScopes = ['organization', 'automation', 'execution', 'text'] as const;
/** One of {@link erasedScopes}. */
export type ErasedScope = (typeof erasedScopes)[number];

/** The record of an erasure: who erased which events, when and why. */
export interface Erasure {
  /** A UUIDv7 of the time of the erasure. */
  readonly id: string;
  readonly organization: string;
  readonly erased_at: Date;
  readonly erased_by: string;
  readonly reason: string;
  /** With `text`, events lost their texts and stay. Otherwise they are gone. */
  readonly scope: ErasedScope;
  /** Null for `organization` and `text`. */
  readonly automation_id: string | null;
  /** The ids of the events, 16 bytes each, sorted. */
  readonly event_ids: Buffer;
}

/**
 * The record of an erasure in canonical JSON (RFC 8785): all members as texts, sorted by name.
 * `event_ids_sha256` replaces the ids: SHA-256 of their bytes, in hexadecimal digits.
 * `automation_id` is absent if it is null.
 */
export function erasureJson({ event_ids, automation_id, ...record }: Erasure): string {
  return JSON.stringify({
    ...(automation_id !== null && { automation_id }),
    erased_at: record.erased_at.toISOString(),
    erased_by: record.erased_by,
    event_ids_sha256: sha256(event_ids).toString('hex'),
    id: record.id,
    organization: record.organization,
    reason: record.reason,
    scope: record.scope,
  });
}

/**
 * The leaf of an erasure: its id, and SHA-256 of {@link erasureJson}. With it nobody can change the
 * record, or add one much later.
 */
export function leafOfErasure(erasure: Erasure): Buffer {
  const leaf = Buffer.alloc(leafSize);
  writeLeaf(leaf, 0, erasure.id, sha256Text(erasureJson(erasure)), 'erasure');
  return leaf;
}

/** True for the leaf of an erasure. */
export function isErasure(leaf: Buffer): boolean {
  return leaf[0] === leafKinds.erasure;
}

/** The length of an id of an event, in bytes. */
export const idSize = 16;

/** Joins the ids of events, sorted. */
export function joinIds(ids: readonly string[]): Buffer {
  return Buffer.from(
    ids
      .map((id) => id.replaceAll('-', ''))
      .sort()
      .join(''),
    'hex',
  );
}

/** The ids of events as texts. */
export function splitIds(ids: Buffer): string[] {
  return Array.from({ length: ids.length / idSize }, (_, at) => uuidAt(ids, at * idSize));
}

/** True if sorted ids contain one; reads only a few of them. */
export function holdsId(ids: Buffer, id: string): boolean {
  const wanted = bytesOf(id);
  const at = placeOf(ids, wanted);
  return at < ids.length && ids.compare(wanted, 0, idSize, at, at + idSize) === 0;
}

/** True if sorted ids contain one from `first` to `last`. */
export function holdsBetween(ids: Buffer, first: string, last: string): boolean {
  const at = placeOf(ids, bytesOf(first));
  return at < ids.length && ids.compare(bytesOf(last), 0, idSize, at, at + idSize) <= 0;
}

function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** The offset in bytes of the first of sorted ids that is not below `wanted`. */
function placeOf(ids: Buffer, wanted: Buffer): number {
  let [low, high] = [0, ids.length / idSize];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const order = ids.compare(wanted, 0, idSize, middle * idSize, (middle + 1) * idSize);
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return low * idSize;
}

/** The record of an erasure as a line of JSON, with the ids of its events. */
export function writeErasure({ event_ids, ...record }: Erasure): string {
  return JSON.stringify({ ...record, events: splitIds(event_ids) });
}

/** Reads a line of {@link writeErasure}. @throws for any other text. */
export function readErasure(line: string): Erasure {
  const read = Object(JSON.parse(line)) as Record<string, unknown>;
  const text = (name: string): string => {
    const value = read[name];
    if (typeof value === 'string') return value;
    throw new Error(`the record of an erasure has no ${name}`);
  };
  const scope = erasedScopes.find((known) => known === text('scope'));
  const events = read['events'];
  if (scope === undefined || !Array.isArray(events)) throw new Error('this is no record of an erasure');
  return {
    id: text('id'),
    organization: text('organization'),
    erased_at: new Date(text('erased_at')),
    erased_by: text('erased_by'),
    reason: text('reason'),
    scope,
    automation_id: read['automation_id'] === null ? null : text('automation_id'),
    event_ids: joinIds(events.map(String)),
  };
}
