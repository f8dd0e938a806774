import { timingSafeEqual } from 'node:crypto';
import { textsDigestOf } from '../../ledger/event-digest.ts';
import { sha256 } from '../../ledger/hashing.ts';
import { macOf, macSize, type MacKey } from '../../ledger/mac.ts';
import type { Selectable } from '../sql.ts';
import type { ActsTable } from '../tables/acts-table.ts';

/** A row of `acts` with all that counts of it. */
export type ActRow = Omit<Selectable<ActsTable>, 'recorded_at' | 'mac'>;

/** The MAC with which a console writes an act, so that nobody acts for an owner by SQL alone. */
export function macOfAct(key: MacKey, act: ActRow): Buffer {
  // No leaf begins with a letter: this MAC is never one of a leaf.
  return macOf(key, act.organization, Buffer.from(`act\0${jsonOf(act)}`));
}

/** True if one of these keys made the MAC of an act. Without a key there is no log: all count. */
export function isMade(keys: readonly MacKey[], act: ActRow & { mac: Uint8Array | null }): boolean {
  if (keys.length === 0) return true;
  const { mac } = act;
  return mac?.length === macSize && keys.some((key) => timingSafeEqual(macOfAct(key, act), mac));
}

/** The SHA-256 of a row, in hexadecimal digits, which its act in the log has. */
export function digestOfRow(act: ActRow): string {
  return sha256(jsonOf(act)).toString('hex');
}

/**
 * The digest of a note. An erasure of the note keeps it and deletes the salt, so nobody can test
 * guesses.
 */
export function noteDigestOf({ note, salt, note_digest }: Pick<ActRow, 'note' | 'salt' | 'note_digest'>): Uint8Array {
  return note === '' && note_digest !== null ? note_digest : textsDigestOf(JSON.stringify({ note }), salt);
}

/** A row in canonical JSON (RFC 8785): all members as texts, without null and empty ones. */
function jsonOf(act: ActRow): string {
  const { window, as } = act.details;
  return JSON.stringify({
    about: act.about ?? undefined,
    as,
    automation_id: act.automation_id ?? undefined,
    duration: window?.duration,
    execution_id: act.execution_id ?? undefined,
    id: act.id,
    kind: act.kind,
    made_at: timeOf(act.made_at),
    made_by: act.made_by,
    note_digest: Buffer.from(noteDigestOf(act)).toString('hex'),
    organization: act.organization,
    schedule: window?.schedule,
    time_zone: window?.timeZone,
    until_at: act.until_at === null ? undefined : timeOf(act.until_at),
  });
}

/** Postgres' time `infinity` is a number here. */
function timeOf(time: Date | number): string {
  return time instanceof Date ? time.toISOString() : String(time);
}
