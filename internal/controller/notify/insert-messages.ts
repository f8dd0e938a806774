import { randomUUID } from 'node:crypto';
import type { Tables } from '../../store/database.ts';
import type { Transaction } from '../../store/sql.ts';
import type { CloudEvent } from './cloud-event.ts';
import type { Channel } from './channel-choice.ts';

/** A notification for a channel. */
export interface Message {
  /** Random unless given. A message whose id is in the outbox is not added again. */
  id?: string | undefined;
  channel: Pick<Channel, 'organization' | 'namespace' | 'name'>;
  automationId: string;
  event: CloudEvent;
}

/** Maximum rows per statement: each has seven values, and Postgres accepts 65,535. */
const batch = 1_000;

/** Inserts messages in this order, in which they are delivered. */
export async function insertMessages(trx: Transaction<Tables>, messages: readonly Message[]): Promise<void> {
  for (let from = 0; from < messages.length; from += batch) {
    const rows = messages.slice(from, from + batch).map(({ id = randomUUID(), channel, automationId, event }) => ({
      id,
      organization: channel.organization,
      automation_id: automationId,
      channel_namespace: channel.namespace,
      channel_name: channel.name,
      event: JSON.stringify(event),
    }));
    await trx
      .insertInto('deliveries')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['organization', 'id']).doNothing())
      .execute();
  }
}
