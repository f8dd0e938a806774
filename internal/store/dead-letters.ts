import type { AcceptedEvent } from '../event/event.ts';
import type { Database } from './database.ts';

/** Longest text in the primary key, in characters: an index entry holds 2,700 bytes. */
const keyLength = 255;

/**
 * Keeps an event that Postgres refuses, whatever it holds, with the reason. Keeping it again
 * changes nothing. Resolves with true when it is new.
 */
export async function keepDeadLetter(db: Database, event: AcceptedEvent, reason: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('dead_letters')
    .values({
      organization: storable(event.organization).slice(0, keyLength),
      id: storable(event.id).slice(0, keyLength),
      created_at: new Date(event.createdAt),
      reason: storable(reason),
      event: Buffer.from(JSON.stringify(event)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** What may be refused in the event must not be refused here too. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
