import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { CloudEvent } from './cloud-event.ts';

/** The key of a webhook. */
export interface WebhookRef {
  organization: string;
  namespace: string;
  name: string;
}

/** A delivery that this process may attempt, and its webhook. */
export interface Claim extends WebhookRef {
  id: string;
  url: string;
  allow_private: boolean;
  event: CloudEvent;
  /** The number of this attempt; the first is 1. */
  attempts: number;
}

export interface ClaimOptions {
  /** Most deliveries. */
  most: number;
  /** Most deliveries of one webhook. */
  mostOfWebhook: number;
  /** Webhooks that get no further attempt now. */
  busy: readonly WebhookRef[];
  /** How long a claim holds, in ms. After it the delivery is due again: its process has died. */
  leaseMs: number;
}

/** The age at which Runledger gives up a delivery. */
export const givenUpAfter = sql.lit('3 days');

/**
 * Claims deliveries that are due, for any number of processes. A claim is an update of the time of
 * the next attempt, so no transaction stays open during the attempt, and a process that dies keeps
 * nothing. Of each automation only the oldest delivery of a webhook is due. Of a webhook that fails
 * only one is due, after its circuit closes. Processes that look at the same time get different
 * deliveries: each skips what another one has locked.
 */
export async function claimDue(db: Database, { most, mostOfWebhook, busy, leaseMs }: ClaimOptions): Promise<Claim[]> {
  const columns = [busy.map((w) => w.organization), busy.map((w) => w.namespace), busy.map((w) => w.name)];
  const lease = sql`now() + ${leaseMs} * interval '1 millisecond'`;
  const { rows } = await sql<Claim>`
    with failing as (
      select organization, namespace, name from webhooks
      where failing_since is not null and (open_until is null or open_until <= now()) for update skip locked
    ), due as (
      select d.id, d.next_attempt_at, w.url, w.allow_private, w.failing_since, row_number() over (
        partition by w.organization, w.namespace, w.name order by d.next_attempt_at, d.sequence
      ) as place
      from webhooks w cross join lateral (
        select d.id, d.next_attempt_at, d.sequence from deliveries d
        where (d.organization, d.webhook_namespace, d.webhook_name) = (w.organization, w.namespace, w.name)
          and d.delivered_at is null and d.given_up_at is null and d.next_attempt_at <= now()
          and not exists (
            select from deliveries e where e.delivered_at is null and e.given_up_at is null and e.sequence < d.sequence
              and (e.organization, e.automation_id, e.webhook_namespace, e.webhook_name)
                = (d.organization, d.automation_id, d.webhook_namespace, d.webhook_name)
          )
        order by d.next_attempt_at, d.sequence limit ${mostOfWebhook}::integer for update of d skip locked
      ) d
      where (w.open_until is null or w.open_until <= now())
        and (w.failing_since is null or (w.organization, w.namespace, w.name) in (select * from failing))
        and (w.organization, w.namespace, w.name) not in (
          select * from unnest(${columns[0]}::text[], ${columns[1]}::text[], ${columns[2]}::text[])
        )
    ), chosen as (
      select id, url, allow_private from due where failing_since is null or place = 1
      order by next_attempt_at limit ${most}::integer
    ), claimed as (
      update deliveries d set attempts = attempts + 1, next_attempt_at = ${lease}
      from chosen where chosen.id = d.id
      returning d.id, d.organization, d.webhook_namespace as namespace, d.webhook_name as name,
        chosen.url, chosen.allow_private, d.event, d.attempts
    ), closed as (
      update webhooks w set open_until = ${lease} from claimed c
      where (w.organization, w.namespace, w.name) = (c.organization, c.namespace, c.name) and w.failing_since is not null
    )
    select * from claimed
  `.execute(db);
  return rows;
}

/** Notes that the receiver accepted a delivery. This closes the circuit of its webhook. */
export async function noteDelivered(db: Database, claim: Claim, status: number): Promise<void> {
  await sql`
    with closed as (
      update webhooks set failing_since = null, open_until = null
      where ${isWebhookOf(claim)} and failing_since is not null
    )
    update deliveries set delivered_at = now(), given_up_at = null, last_status = ${status}, last_error = null
    where id = ${claim.id}::uuid and delivered_at is null
  `.execute(db);
}

/**
 * Notes that an attempt failed. The next one is in `pauseMs`, unless the delivery is given up. The
 * circuit of the webhook stays open for as long as the webhook has failed, at most an hour. So one
 * failure does not open it, and the pause doubles with each further one.
 */
export async function noteFailed(
  db: Database,
  claim: Claim,
  { status, error, pauseMs }: { status: number | null; error: string; pauseMs: number },
): Promise<'failed' | 'given_up'> {
  const { rows } = await sql<{ given_up: boolean }>`
    with opened as (
      update webhooks set failing_since = coalesce(failing_since, now()),
        open_until = now() + least(now() - coalesce(failing_since, now()), interval '1 hour')
      where ${isWebhookOf(claim)}
    )
    update deliveries set next_attempt_at = now() + ${pauseMs} * interval '1 millisecond',
      last_status = ${status}::integer, last_error = ${error},
      given_up_at = case when created_at < now() - ${givenUpAfter}::interval then now() end
    where id = ${claim.id}::uuid and delivered_at is null and attempts = ${claim.attempts}
    returning given_up_at is not null as given_up
  `.execute(db);
  return rows[0]?.given_up === true ? 'given_up' : 'failed';
}

function isWebhookOf({ organization, namespace, name }: WebhookRef) {
  return sql`organization = ${organization} and namespace = ${namespace} and name = ${name}`;
}
