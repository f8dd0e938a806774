import type { Database, Tables } from '../../store/database.ts';
import { isParked } from '../../store/parked-deliveries.ts';
import { sql, type RawBuilder, type Transaction } from '../../store/sql.ts';

/**
 * Most due deliveries of a webhook that a look reads, however many wait. Updates name their rows by
 * an array: joined with many webhooks, Postgres would rather read the whole table.
 */
export const mostRead = sql.lit(200);

/** Deliveries of an automation to a webhook: they are sent one after the other. */
export interface Line {
  organization: string;
  automation_id: string;
  namespace: string;
  name: string;
}

/** The deliveries of a webhook `w` that are due, oldest first: a few by an index. */
export const dueOfWebhook = sql`
  select d.id, d.sequence, d.automation_id, d.next_attempt_at from deliveries d
  where (d.organization, d.webhook_namespace, d.webhook_name) = (w.organization, w.namespace, w.name)
    and d.delivered_at is null and d.given_up_at is null and d.next_attempt_at <= now()
  order by d.next_attempt_at, d.sequence limit ${mostRead}
`;

/** The deliveries `e` that wait and are in the line of a due one, `d`, of a webhook `w`. */
export const inLine: RawBuilder<boolean> = sql`
  (e.organization, e.automation_id, e.webhook_namespace, e.webhook_name)
    = (w.organization, d.automation_id, w.namespace, w.name)
  and e.delivered_at is null and e.given_up_at is null
`;

/**
 * Parks deliveries that are due but wait for an earlier one. Resolves with their number. The lock
 * of the earlier one keeps it from ending meanwhile: {@link makeNextDue} then sees what was parked.
 */
export async function parkLater(db: Database): Promise<number> {
  const { rows } = await sql`
    with later as (
      select own.id from webhooks w
      cross join lateral (${dueOfWebhook}) d
      cross join lateral (
        select e.id from deliveries e where ${inLine} and e.sequence < d.sequence
        order by e.sequence limit 1 for update skip locked
      ) earlier
      cross join lateral (
        select e.id from deliveries e where e.id = d.id and e.delivered_at is null and e.given_up_at is null
        for update skip locked
      ) own
      where w.open_until is null or w.open_until <= now()
    )
    update deliveries set next_attempt_at = now() + interval '1 day' where id = any(array(select id from later)) returning id
  `.execute(db);
  return rows.length;
}

/**
 * Makes the next delivery of each line due, after an earlier one has ended. A statement of its own
 * in the same transaction: one begun before the end would not see what was parked until then.
 */
export async function makeNextDue(trx: Transaction<Tables>, lines: readonly Line[]): Promise<void> {
  await sql`
    update deliveries set next_attempt_at = now() where id = any(array(
      select next.id from unnest(
        ${lines.map(({ organization }) => organization)}::text[], ${lines.map((line) => line.automation_id)}::uuid[],
        ${lines.map(({ namespace }) => namespace)}::text[], ${lines.map(({ name }) => name)}::text[]
      ) as line (organization, automation_id, namespace, name)
      cross join lateral (
        select e.id from deliveries e
        where (e.organization, e.automation_id, e.webhook_namespace, e.webhook_name)
          = (line.organization, line.automation_id, line.namespace, line.name)
          and e.delivered_at is null and e.given_up_at is null
        order by e.sequence limit 1
      ) next
    )) and ${isParked}
  `.execute(trx);
}
