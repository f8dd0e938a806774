import type { AcceptedEvent } from '../event/event.ts';
import { storable } from '../event/stored-text.ts';
import type { Database } from './database.ts';

/** Longest text in the primary key, in characters: an index entry holds 2,700 bytes. */
const keyLength = 255;

/**
 * Stores an event that Postgres rejects, with the reason. Resolves with true when it is new; safe
 * twice.
 */
export async function keepDeadLetter(db: Database, event: AcceptedEvent, reason: string): Promise<boolean> {
  // Postgres may not read the bytes of a seal as JSON. It is made again.
  const { seal: _seal, ...letter } = event;
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('dead_letters')
    .values({
      organization: storable(event.organization, keyLength),
      id: storable(event.id, keyLength),
      created_at: new Date(event.createdAt),
      reason: storable(reason),
      event: Buffer.from(JSON.stringify(letter)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
