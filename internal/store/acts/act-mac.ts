import { timingSafeEqual } from 'node:crypto';
import { macOf, macSize, type MacKey } from '../../ledger/mac.ts';
import type { Selectable } from '../sql.ts';
import type { ActsTable } from '../tables/acts-table.ts';

/** A row of `acts` with all that counts of it. */
export type ActRow = Omit<Selectable<ActsTable>, 'recorded_at' | 'mac'>;

/**
 * The MAC with which a console writes an act, so that nobody acts for an owner with Postgres alone.
 * That of the note comes first: an erasure empties a note, and the rest still counts.
 */
export function macOfAct(key: MacKey, act: ActRow): Buffer {
  const note = macOf(key, act.organization, Buffer.from(`note\0${act.id}\0${act.note}`));
  return Buffer.concat([note, macOfRest(key, act, note)]);
}

/** True if one of these keys made the MAC of an act. Without a key there is no log: all count. */
export function isMade(keys: readonly MacKey[], act: ActRow & { mac: Uint8Array | null }): boolean {
  if (keys.length === 0) return true;
  const { mac } = act;
  if (mac?.length !== 2 * macSize) return false;
  const note = Buffer.from(mac.subarray(0, macSize));
  return keys.some((key) => {
    const expected = act.note === '' ? Buffer.concat([note, macOfRest(key, act, note)]) : macOfAct(key, act);
    return timingSafeEqual(expected, mac);
  });
}

function macOfRest(key: MacKey, act: ActRow, note: Buffer): Buffer {
  const { window, as } = act.details;
  const counts = [act.id, act.kind, act.automation_id, act.execution_id, act.about, act.until_at, act.made_by];
  const details = [as, window?.schedule, window?.timeZone, window?.duration];
  // No leaf begins with a letter: this MAC is never one of a leaf.
  const text = `act\0${JSON.stringify([...counts, act.made_at, ...details, note.toString('hex')])}`;
  return macOf(key, act.organization, Buffer.from(text));
}
