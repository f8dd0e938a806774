import type { Database } from '../../store/database.ts';
import { isWaiting } from '../../store/parked-deliveries.ts';
import { sql, type RawBuilder } from '../../store/sql.ts';
import type { Claim, ChannelRef } from './claim.ts';
import { makeNextDue, stillWaiting, type Line } from './park.ts';

/** The age at which Runledger gives up a delivery. */
const givenUpAfter = sql.lit('3 days');

/** Maximum number of deliveries that one statement gives up. */
const mostGivenUp = sql.lit(1_000);

/**
 * Records that the receiver accepted a claim, which closes the circuit of its channel, except for
 * `restMs`.
 * @param error what it refused of the message, if anything.
 */
export function noteDelivered(
  db: Database,
  claim: Claim,
  { status, error = null, restMs = 0 }: { status: number; error?: string | null; restMs?: number },
): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const rest = restMs === 0 ? sql`null` : sql`now() + ${restMs} * interval '1 millisecond'`;
    const { rows } = await sql`
      with closed as (
        update channels set failing_since = null, open_until = ${rest}
        where ${isChannelOf(claim)} and (failing_since is not null or type <> 'webhook')
      )
      update deliveries set delivered_at = now(), given_up_at = null, attempts = ${attemptsOf(claim)}, last_status = ${status}, last_error = ${error}
      where id = any(${claim.ids}::uuid[]) and delivered_at is null returning id
    `.execute(trx);
    if (rows.length > 0 && claim.type === 'webhook') await makeNextDue(trx, [claim]);
  });
}

/** A failed attempt. */
export interface Failure {
  status: number | null;
  error: string;
  pauseMs: number;
  /** True if the receiver would refuse it again: it is given up now. */
  isFinal?: boolean;
}

/**
 * Records that an attempt failed. The next one follows in `pauseMs`, unless the delivery is given
 * up. The circuit of the channel opens for as long as the channel has been failing, at most an
 * hour. So a single failure does not open that of a webhook, and each further one doubles the
 * pause. A message to people waits as a whole. A receiver that is only busy (429) is not failing.
 */
export function noteFailed(
  db: Database,
  claim: Claim,
  { status, error, pauseMs, isFinal = false }: Failure,
): Promise<'failed' | 'given_up'> {
  return db.transaction().execute(async (trx) => {
    const isPeople = claim.type !== 'webhook';
    const next = sql`now() + ${pauseMs} * interval '1 millisecond'`;
    const failing = isPeople && status === 429 ? sql`failing_since` : sql`coalesce(failing_since, now())`;
    const circuit = sql`now() + least(now() - coalesce(failing_since, now()), interval '1 hour')`;
    const { rows } = await sql<{ given_up: boolean }>`
      with opened as (
        update channels set failing_since = ${failing},
          open_until = ${isPeople && !isFinal ? sql`greatest(${circuit}, ${next})` : circuit}
        where ${isChannelOf(claim)}
      )
      update deliveries e set next_attempt_at = ${next}, attempts = ${attemptsOf(claim)}, last_status = ${status}::integer, last_error = ${error},
        given_up_at = case when ${isFinal}::boolean or created_at < now() - ${givenUpAfter}::interval then now() end
      where id = any(${claim.ids}::uuid[]) and ${stillWaiting} and ${attemptsOf(claim)} <= ${claim.attempts}
      returning given_up_at is not null as given_up
    `.execute(trx);
    if (rows[0]?.given_up !== true) return 'failed';
    if (!isPeople) await makeNextDue(trx, [claim]);
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
      returning id, organization, automation_id, channel_namespace as namespace, channel_name as name
    `.execute(trx);
    const lines = new Map(
      rows.map((row) => [[row.organization, row.automation_id, row.namespace, row.name].join(' '), row]),
    );
    if (rows.length > 0) await makeNextDue(trx, [...lines.values()]);
    return rows.map(({ id }) => id);
  });
}

/** A claim of a webhook has counted its attempt; one of people writes no delivery. */
function attemptsOf({ type }: Claim): RawBuilder<number> {
  return type === 'webhook' ? sql`attempts` : sql`attempts + 1`;
}

function isChannelOf({ organization, namespace, name }: ChannelRef) {
  return sql`organization = ${organization} and namespace = ${namespace} and name = ${name}`;
}
