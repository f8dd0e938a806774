import type { Database } from '../../store/database.ts';
import { isWaiting } from '../../store/parked-deliveries.ts';
import { sql } from '../../store/sql.ts';
import type { Claim, WebhookRef } from './claim.ts';
import { makeNextDue, type Line } from './park.ts';

/** The age at which Runledger gives up a delivery. */
const givenUpAfter = sql.lit('3 days');

/** Maximum number of deliveries that one statement gives up. */
const mostGivenUp = sql.lit(1_000);

/** Records that the receiver accepted a delivery, which closes the circuit of its webhook. */
export function noteDelivered(db: Database, claim: Claim, status: number): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql`
      with closed as (
        update webhooks set failing_since = null, open_until = null
        where ${isWebhookOf(claim)} and failing_since is not null
      )
      update deliveries set delivered_at = now(), given_up_at = null, last_status = ${status}, last_error = null
      where id = ${claim.id}::uuid and delivered_at is null returning id
    `.execute(trx);
    if (rows.length > 0) await makeNextDue(trx, [claim]);
  });
}

/**
 * Records that an attempt failed. The next one follows in `pauseMs`, unless the delivery is given
 * up. The circuit of the webhook opens for as long as the webhook has been failing, at most an
 * hour. So a single failure does not open it, and each further one doubles the pause.
 */
export function noteFailed(
  db: Database,
  claim: Claim,
  { status, error, pauseMs }: { status: number | null; error: string; pauseMs: number },
): Promise<'failed' | 'given_up'> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ given_up: boolean }>`
      with opened as (
        update webhooks set failing_since = coalesce(failing_since, now()),
          open_until = now() + least(now() - coalesce(failing_since, now()), interval '1 hour')
        where ${isWebhookOf(claim)}
      )
      update deliveries set next_attempt_at = now() + ${pauseMs} * interval '1 millisecond',
        last_status = ${status}::integer, last_error = ${error},
        given_up_at = case when created_at < now() - ${givenUpAfter}::interval then now() end
      where id = ${claim.id}::uuid and ${isWaiting} and attempts = ${claim.attempts}
      returning given_up_at is not null as given_up
    `.execute(trx);
    if (rows[0]?.given_up !== true) return 'failed';
    await makeNextDue(trx, [claim]);
    return 'given_up';
  });
}

/** Gives up the oldest deliveries that are too old. Resolves with their ids, or none at the end. */
export function giveUpOld(db: Database): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<Line & { id: string }>`
      update deliveries set given_up_at = now(), last_error = coalesce(last_error, 'there was no attempt')
      where id = any(array(
        select id from deliveries where ${isWaiting} and created_at < now() - ${givenUpAfter}::interval
        order by created_at limit ${mostGivenUp} for update skip locked
      ))
      returning id, organization, automation_id, webhook_namespace as namespace, webhook_name as name
    `.execute(trx);
    const lines = new Map(
      rows.map((row) => [[row.organization, row.automation_id, row.namespace, row.name].join(' '), row]),
    );
    if (rows.length > 0) await makeNextDue(trx, [...lines.values()]);
    return rows.map(({ id }) => id);
  });
}

function isWebhookOf({ organization, namespace, name }: WebhookRef) {
  return sql`organization = ${organization} and namespace = ${namespace} and name = ${name}`;
}
