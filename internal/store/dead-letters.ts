import type { Kysely } from 'kysely';
import type { AcceptedEvent } from '../event/event.ts';
import { storable } from '../event/stored-text.ts';
import { isUuid } from '../event/uuid.ts';
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
  const { seal: _seal, ...letter } = event;
  const organization = storable(event.organization, keyLength);
  return db.transaction().execute(async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('dead_letters')
      .values({
        organization,
        id: storable(event.id, keyLength),
        created_at: new Date(event.createdAt),
        reason: storable(reason),
        event: Buffer.from(JSON.stringify(letter)),
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) return false;
    const code = /^[0-9A-Z]{5}/.exec(reason)?.[0] ?? 'unknown';
    const details = { event: uuidOf(event.id), code };
    await appendAct(trx, macKey, { organization, kind: 'dead-letter-kept', by: 'worker', details });
    return true;
  });
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
