import type { Database, Tables } from '../../store/database.ts';
import { sql, type RawBuilder, type Transaction } from '../../store/sql.ts';

/**
 * Maximum number of due deliveries that one look reads per channel, however many wait. Updates name
 * their rows in an array: in a join with many channels, Postgres would read the whole table.
 */
export const mostRead = sql.lit(200);

/** The deliveries of an automation to a channel, which are sent one after the other. */
export interface Line {
  organization: string;
  automation_id: string;
  namespace: string;
  name: string;
}

/** The due deliveries of a channel `w`, oldest first, found with an index. */
export const dueOfChannel = sql`
  select d.id, d.sequence, d.automation_id, d.next_attempt_at from deliveries d
  where (d.organization, d.channel_namespace, d.channel_name) = (w.organization, w.namespace, w.name)
    and d.delivered_at is null and d.given_up_at is null and d.next_attempt_at <= now()
  order by d.next_attempt_at, d.sequence limit ${mostRead}
`;

/** True for waiting deliveries `e` in the line of a due one, `d`, of a channel `w`. */
export const inLine: RawBuilder<boolean> = sql`
  (e.organization, e.automation_id, e.channel_namespace, e.channel_name)
    = (w.organization, d.automation_id, w.namespace, w.name)
  and e.delivered_at is null and e.given_up_at is null
`;

/**
 * True for a waiting delivery `e` that is named by its id. Written so that no index of waiting ones
 * fits: after many were added at once, Postgres thinks these few, and would read all of them.
 */
export const stillWaiting: RawBuilder<boolean> = sql`coalesce(e.delivered_at, e.given_up_at) is null`;

/**
 * Parks due deliveries to webhooks that wait for an earlier one. Resolves with their number. The
 * lock on the earlier delivery keeps it from ending meanwhile, so {@link makeNextDue} sees what was
 * parked.
 */
export async function parkLater(db: Database): Promise<number> {
  const { rows } = await sql`
    with later as (
      select own.id from channels w
      cross join lateral (${dueOfChannel}) d
      cross join lateral (
        select e.id from deliveries e where ${inLine} and e.sequence < d.sequence
        order by e.sequence limit 1 for update skip locked
      ) earlier
      cross join lateral (
        select e.id from deliveries e where (e.organization, e.id) = (w.organization, d.id) and ${stillWaiting}
        for update skip locked
      ) own
      where w.type = 'webhook' and (w.open_until is null or w.open_until <= now())
    )
    update deliveries set next_attempt_at = now() + interval '1 day' where id = any(array(select id from later)) returning id
  `.execute(db);
  return rows.length;
}

/**
 * Makes the next delivery of each line due after an earlier one has ended. Runs as a separate
 * statement in the same transaction: an earlier one would not see what was parked until then.
 */
export async function makeNextDue(trx: Transaction<Tables>, lines: readonly Line[]): Promise<void> {
  await sql`
    update deliveries e set next_attempt_at = now() where id = any(array(
      select next.id from unnest(
        ${lines.map(({ organization }) => organization)}::text[], ${lines.map((line) => line.automation_id)}::uuid[],
        ${lines.map(({ namespace }) => namespace)}::text[], ${lines.map(({ name }) => name)}::text[]
      ) as line (organization, automation_id, namespace, name)
      cross join lateral (
        select e.id from deliveries e
        where (e.organization, e.automation_id, e.channel_namespace, e.channel_name)
          = (line.organization, line.automation_id, line.namespace, line.name)
          and e.delivered_at is null and e.given_up_at is null
        order by e.sequence limit 1
      ) next
    )) and ${stillWaiting} and attempts = 0 and next_attempt_at > now()
  `.execute(trx);
}
