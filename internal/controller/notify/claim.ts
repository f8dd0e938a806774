import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { CloudEvent } from './cloud-event.ts';
import { dueOfWebhook, inLine } from './park.ts';

/** The key of a webhook. */
export interface WebhookRef {
  organization: string;
  namespace: string;
  name: string;
}

/** A delivery that this process may attempt, and its webhook. */
export interface Claim extends WebhookRef {
  id: string;
  automation_id: string;
  url: string;
  allow_private: boolean;
  event: CloudEvent;
  /** The number of this attempt; the first is 1. */
  attempts: number;
}

/** How many attempts may be in progress in a process at once. */
export interface Slots {
  /** Shared by all organizations. */
  shared: number;
  ofOrganization: number;
  ofWebhook: number;
  /**
   * An organization without an attempt in progress may exceed the shared slots by one, up to this
   * total.
   */
  total: number;
}

export interface ClaimOptions {
  slots: Slots;
  /** The webhooks with attempts in progress, and how many. */
  underWay: readonly { webhook: WebhookRef; count: number }[];
  /** The lease of a claim, in ms. Afterwards the delivery is due again: its process has died. */
  leaseMs: number;
}

/**
 * Claims due deliveries, for any number of processes. A claim moves the time of the next attempt,
 * so no transaction stays open during the attempt, and a process that dies holds nothing. Only the
 * oldest delivery of each automation and webhook is due. A failing webhook has only one due
 * delivery, after its circuit closes. Concurrent processes get different deliveries: each skips the
 * rows that another one has locked.
 *
 * Organizations take turns: the one with the fewest attempts in progress is next, and within it the
 * webhook with the fewest.
 */
export async function claimDue(db: Database, { slots, underWay, leaseMs }: ClaimOptions): Promise<Claim[]> {
  const all = underWay.reduce((sum, { count }) => sum + count, 0);
  const lease = sql`now() + ${leaseMs} * interval '1 millisecond'`;
  const { rows } = await sql<Claim>`
    with under_way as (
      select * from unnest(
        ${underWay.map(({ webhook }) => webhook.organization)}::text[],
        ${underWay.map(({ webhook }) => webhook.namespace)}::text[],
        ${underWay.map(({ webhook }) => webhook.name)}::text[], ${underWay.map(({ count }) => count)}::integer[]
      ) as u (organization, namespace, name, of_webhook)
    ), failing as (
      select organization, namespace, name from webhooks
      where failing_since is not null and (open_until is null or open_until <= now()) for update skip locked
    ), free as (
      select w.*, coalesce(of_webhook, 0) as of_webhook, coalesce(of_organization, 0) as of_organization
      from webhooks w left join under_way using (organization, namespace, name)
        left join (select organization, sum(of_webhook) as of_organization from under_way group by 1) o using (organization)
      where (w.open_until is null or w.open_until <= now())
        and (w.failing_since is null or (w.organization, w.namespace, w.name) in (select * from failing))
        and coalesce(of_webhook, 0) < ${slots.ofWebhook}::integer
        and coalesce(of_organization, 0) < ${slots.ofOrganization}::integer
    ), due as (
      select d.id, d.next_attempt_at, w.organization, w.url, w.allow_private, w.failing_since, w.of_organization,
        w.of_webhook + row_number() over (
          partition by w.organization, w.namespace, w.name order by d.next_attempt_at, d.sequence
        ) as place
      from free w cross join lateral (
        select d.* from (${dueOfWebhook}) d
        cross join lateral (select e.id from deliveries e where ${inLine} order by e.sequence limit 1) oldest
        cross join lateral (
          select from deliveries e where e.id = d.id and e.delivered_at is null and e.given_up_at is null
            and e.next_attempt_at <= now() for update skip locked
        ) locked
        where oldest.id = d.id limit ${slots.ofWebhook}::integer
      ) d
    ), placed as (
      select *, of_organization + row_number() over (partition by organization order by place, next_attempt_at) as turn
      from due where case when failing_since is null then place <= ${slots.ofWebhook}::integer else place = 1 end
    ), numbered as (
      select *, ${all}::integer + row_number() over (order by turn, next_attempt_at) as slot
      from placed where turn <= ${slots.ofOrganization}::integer
    ), chosen as (
      select id, url, allow_private from numbered
      where slot <= ${slots.shared}::integer or (turn = 1 and slot <= ${slots.total}::integer)
    ), claimed as (
      update deliveries set attempts = attempts + 1, next_attempt_at = ${lease}
      where id = any(array(select id from chosen))
      returning id, organization, automation_id, webhook_namespace as namespace, webhook_name as name, event, attempts
    ), closed as (
      update webhooks w set open_until = ${lease} from claimed c
      where (w.organization, w.namespace, w.name) = (c.organization, c.namespace, c.name) and w.failing_since is not null
    )
    select * from claimed join chosen using (id)
  `.execute(db);
  return rows;
}
