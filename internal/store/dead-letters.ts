import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { AcceptedEvent } from '../event/event.ts';
import { storable } from '../event/stored-text.ts';
import { isUuid } from '../event/uuid.ts';
import { saltSize } from '../ledger/event-digest.ts';
import { sha256 } from '../ledger/hashing.ts';
import type { MacKey } from '../ledger/mac.ts';
import { appendAct } from './ledger/append-act.ts';
import type { Database, Tables } from './database.ts';

/** Longest text in the primary key, in characters: an index entry holds 2,700 bytes. */
const keyLength = 255;

/**
 * Stores an event that Postgres rejects, with the reason. Resolves with true when it is new; safe
 * to repeat. With a key, the log gets an act that names it.
 */
export function keepDeadLetter(db: Database, event: AcceptedEvent, reason: string, macKey?: MacKey): Promise<boolean> {
  // Postgres may be unable to read the bytes of a seal as JSON. It can be made again.
  const { seal: _seal, ...sent } = event;
  const organization = storable(event.organization, keyLength);
  // The log keeps the digest of a letter forever, and the salt keeps anybody from testing guesses.
  const salted = macKey === undefined ? sent : { ...sent, salt: randomBytes(saltSize).toString('base64url') };
  const letter = {
    organization,
    id: storable(event.id, keyLength),
    created_at: new Date(event.createdAt),
    reason: storable(reason),
    event: Buffer.from(JSON.stringify(salted)),
  };
  return db.transaction().execute(async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('dead_letters')
      .values(letter)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) return false;
    const code = /^[0-9A-Z]{5}/.exec(reason)?.[0] ?? 'unknown';
    const sha256 = digestOfLetter({ ...letter, event: digitsOf(letter.event) });
    const details = { event: uuidOf(event.id), code, sha256 };
    await appendAct(trx, macKey, { organization, kind: 'dead-letter-kept', by: 'worker', details });
    return true;
  });
}

/** The columns of a dead letter that its digest covers; of the event it has the SHA-256. */
export interface LetterRow {
  organization: string;
  id: string;
  created_at: Date | number;
  reason: string;
  event: string;
}

/** The SHA-256 of a dead letter in canonical JSON, in hexadecimal digits, which its act has. */
export function digestOfLetter({ created_at, event, id, organization, reason }: LetterRow): string {
  const at = created_at instanceof Date ? created_at.toISOString() : String(created_at);
  return digitsOf(JSON.stringify({ created_at: at, event, id, organization, reason }));
}

function digitsOf(bytes: Uint8Array | string): string {
  return sha256(bytes).toString('hex');
}

/** Writes to the log, if there is one, that somebody deleted dead letters with these ids. */
export async function noteDeletedLetters(
  db: Kysely<Tables>,
  macKey: MacKey | undefined,
  organization: string,
  ids: readonly string[],
  by: string,
): Promise<void> {
  if (ids.length === 0) return;
  const details = { letters: String(ids.length), events: ids.map(uuidOf).join(' ') };
  await appendAct(db, macKey, { organization, kind: 'dead-letters-deleted', by, details });
}

/** An act stays forever, and the rejected value may be an id that holds text. */
function uuidOf(id: string): string {
  return isUuid(id) ? id.toLowerCase() : 'no-uuid';
}
