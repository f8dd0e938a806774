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

/**
 * Inserts messages, which each channel gets in this order. Those of a channel lie together: a look
 * for all that people have not been told then reads a sixth of the pages, with six channels.
 */
export async function insertMessages(trx: Transaction<Tables>, messages: readonly Message[]): Promise<void> {
  const byChannel = Map.groupBy(messages, ({ channel: { organization, namespace, name } }) =>
    [organization, namespace, name].join(' '),
  );
  const together = [...byChannel.values()].flat();
  for (let from = 0; from < together.length; from += batch) {
    const rows = together.slice(from, from + batch).map(({ id = randomUUID(), channel, automationId, event }) => ({
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
