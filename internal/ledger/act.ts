import { sha256Text } from './hashing.ts';
import { leafSize, writeLeaf } from './leaf.ts';

/**
 * The kinds of acts. A new kind needs only a name here.
 *
 * - `older-events-sealed`: events that were stored without a leaf got theirs. `first` and `last`
 * are their lowest and highest ids, `events` is their number, `reason` is why.
 * - `dead-letter-kept`: Postgres refused the `event` (its id) with `code`, its SQLSTATE; `sha256`
 * is that of the letter.
 * - `dead-letters-deleted`: an erasure or retention deleted `letters` of them; `events` has their
 * ids, with spaces between.
 * - `retention-approved`: retention may drop the events of the days before `before`, in
 * `partitions` partitions, because a person, `by`, approved it.
 * - `manifest`: the archive got the manifest `object` of a `day`; `sha256` is that of its bytes.
 * - `events-expired`: retention dropped the events that were accepted before the day `before`.
 * - `token-issued`, `token-expires`, `token-revoked`: an owner made, rotated (in force `until`) or
 * revoked a `token`, named by the first 12 digits of its SHA-256; `scope` is what it may do.
 * - `muted`, `unmuted`: notifications about an `automation`, or about all if it is absent, stopped
 * `until` a time, or went on; `mute` is the id of the mute.
 * - `alert-acknowledged`: somebody takes care of the `alert`, its id.
 * - `run-closed`: somebody closed a run by hand; `event` is the id of the event that says so.
 * - `note-written`: somebody wrote the `note`, its id, on a run.
 *
 * An act of an owner, from `muted` on, names its `row` of the table `acts`, and its `sha256`.
 */
export const actKinds = [
  'older-events-sealed',
  'dead-letter-kept',
  'dead-letters-deleted',
  'retention-approved',
  'manifest',
  'events-expired',
  'token-issued',
  'token-expires',
  'token-revoked',
  'muted',
  'unmuted',
  'alert-acknowledged',
  'run-closed',
  'note-written',
] as const;
export type ActKind = (typeof actKinds)[number];

/** Something done to the record of an organization besides recording its events. */
export interface Act {
  /** A UUIDv7 of the time of the act. */
  readonly id: string;
  readonly organization: string;
  readonly kind: ActKind;
  readonly at: Date;
  /** A person, or the process that acted by itself, such as `worker`. */
  readonly by: string;
  /** Details by lower-case name. Never a caller's text, since acts stay forever. */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * An act in canonical JSON (RFC 8785): `act` (its kind), `at`, `by`, `id`, `organization` and its
 * details, all as texts, sorted by name. The table `log_acts` holds this text.
 */
export function writeAct({ details, kind: act, at, by, id, organization }: Act): string {
  const members: Record<string, string> = { ...details, act, at: at.toISOString(), by, id, organization };
  return JSON.stringify(Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/**
 * Reads a text of {@link writeAct}. @throws for any other text, even if it is only not canonical.
 */
export function readAct(text: string): Act {
  const { act, at, by, id, organization, ...details } = Object(JSON.parse(text)) as Record<string, string>;
  const kind = actKinds.find((known) => known === act);
  if (kind === undefined || at === undefined || by === undefined || id === undefined || organization === undefined) {
    throw new Error('this is no act');
  }
  const read: Act = { id, organization, kind, at: new Date(at), by, details };
  if (Number.isNaN(read.at.getTime()) || writeAct(read) !== text) throw new Error('this is no act in canonical JSON');
  return read;
}

/** The leaf of an act: its id, and SHA-256 of its text. */
export function leafOfAct(id: string, text: string): Buffer {
  const leaf = Buffer.alloc(leafSize);
  writeLeaf(leaf, 0, id, sha256Text(text), 'act');
  return leaf;
}
