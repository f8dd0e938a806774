import { alertmanagerNamespace } from '../expectation/read-channel.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { when } from './conditions.ts';
import { readAs } from './read-as.ts';

/** A channel of an organization, without its secret. */
export interface ChannelState {
  namespace: string;
  name: string;
  type: string;
  /** The host of a webhook, or the recipients of mails; the address of a chat is a secret. */
  to: string;
  kinds: string[];
  /** Since when it fails; null while it does not. */
  failing_since: string | null;
}

/** A notification to a channel. */
export interface Delivery {
  id: string;
  /** Namespace and name. */
  channel: string;
  automation: string;
  /** Such as `automation.missing`. */
  kind: string;
  created_at: string;
  attempts: number;
  /** Null until the receiver accepted it. */
  delivered_at: string | null;
  /** Null unless it was given up. */
  given_up_at: string | null;
  /** Why the last attempt failed; null unless it did. */
  error: string | null;
}

interface DeliveryRow extends Omit<Delivery, 'created_at' | 'delivered_at' | 'given_up_at'> {
  created_at: Date;
  delivered_at: Date | null;
  given_up_at: Date | null;
}

/** The newest deliveries, of one automation or of all. */
export function listDeliveries(
  db: Database,
  organization: string,
  limit: number,
  automationId?: string,
): Promise<Delivery[]> {
  const ofAutomation = when(automationId, (id) => sql`and automation_id = ${id}::uuid`);
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<DeliveryRow>`
      select id, channel_namespace || '/' || channel_name as channel, automation_id as automation,
        replace(event ->> 'type', 'dev.runledger.', '') as kind, created_at, attempts, delivered_at, given_up_at,
        last_error as error
      from deliveries where organization = ${organization} ${sql.join(ofAutomation, sql` `)}
      order by created_at desc, id desc limit ${limit}
    `.execute(trx);
    return rows.map((row) => ({
      ...row,
      created_at: row.created_at.toISOString(),
      delivered_at: row.delivered_at?.toISOString() ?? null,
      given_up_at: row.given_up_at?.toISOString() ?? null,
    }));
  });
}

/** The channels of an organization, by name, and last the Alertmanagers of the installation. */
export function listChannels(db: Database, organization: string): Promise<ChannelState[]> {
  return readAs(db, organization, async (trx) => {
    const rows = await trx
      .selectFrom('channels')
      .select(['namespace', 'name', 'type', 'url', 'to', 'kinds', 'failing_since'])
      .where('organization', '=', organization)
      .orderBy('namespace')
      .orderBy('name')
      .execute();
    const channels = rows.map(({ url, to, failing_since, ...row }) => ({
      ...row,
      to: URL.parse(url)?.host ?? to.join(', '),
      failing_since: failing_since?.toISOString() ?? null,
    }));
    const state = await trx.selectFrom('controller_state').select('alertmanagers').executeTakeFirst();
    const { alertmanagers = [] } = state ?? {};
    const own = { namespace: alertmanagerNamespace, name: 'all', type: 'alertmanager', kinds: [], failing_since: null };
    return alertmanagers.length === 0 ? channels : [...channels, { ...own, to: alertmanagers.join(', ') }];
  });
}
