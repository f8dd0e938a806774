import type { AcceptedEvent } from '../event/event.ts';
import type { Database } from './database.ts';

/** Keeps an event that Postgres refuses, whatever it holds, with the reason. Keeping it again changes nothing. */
export async function keepDeadLetter(db: Database, event: AcceptedEvent, reason: string): Promise<void> {
  await db
    .insertInto('dead_letters')
    .values({
      organization: storable(event.organization),
      id: event.id,
      created_at: new Date(event.createdAt),
      reason: storable(reason),
      event: Buffer.from(JSON.stringify(event)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** What may be refused in the event must not be refused here too. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
