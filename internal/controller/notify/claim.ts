import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import { dueOfChannel, inLine, stillWaiting } from './park.ts';
import type { Told } from './told-message.ts';
import type { ChannelsTable } from '../../store/tables/channels-table.ts';

/** The key of a channel. */
export interface ChannelRef {
  organization: string;
  namespace: string;
  name: string;
}

/**
 * What this process may attempt: one delivery to a webhook, or one message to people about all that
 * a channel has not been told.
 */
export interface Claim extends ChannelRef, Told {
  /** That of the first delivery, the same at each attempt. */
  id: string;
  /** All of its deliveries. */
  ids: string[];
  /** The automation of the first delivery. */
  automation_id: string;
  type: ChannelsTable['type'];
  url: string;
  to: string[];
  allow_private: boolean;
  /** The number of this attempt; the first is 1. */
  attempts: number;
}

/** How many attempts may be in progress in a process at once. */
export interface Slots {
  /** Shared by all organizations. */
  shared: number;
  ofOrganization: number;
  ofChannel: number;
  /**
   * An organization without an attempt in progress may exceed the shared slots by one, up to this
   * total.
   */
  total: number;
}

export interface ClaimOptions {
  slots: Slots;
  /** The channels with attempts in progress, and how many. */
  underWay: readonly { channel: ChannelRef; count: number }[];
  /** Channels that nobody may disturb now. */
  quiet?: readonly ChannelRef[];
  /** The lease of a claim, in ms. Afterwards the delivery is due again: its process has died. */
  leaseMs: number;
}

/** Maximum number of deliveries that one message to people tells, and that it names. */
const mostTogether = sql.lit(20_000);
const mostNamed = sql.lit(10);

const goodNews = sql.join(
  ['automation.resolved', 'execution.succeeded', 'execution.started', 'test'].map((kind) =>
    sql.lit(`dev.runledger.${kind}`),
  ),
);

/**
 * Claims due deliveries, for any number of processes. A claim moves the time of the next attempt,
 * so no transaction stays open during the attempt, and a process that dies holds nothing. Only the
 * oldest delivery of each automation and channel is due. A failing channel has only one due
 * delivery, after its circuit closes. Concurrent processes get different deliveries: each skips the
 * rows that another one has locked.
 *
 * People are told of everything that is due in one message, and hear no other until it has ended: a
 * claim closes their channel and writes no delivery, so it is as quick for thousands as for one.
 *
 * Organizations take turns: the one with the fewest attempts in progress is next, and within it the
 * channel with the fewest.
 */
export async function claimDue(db: Database, { slots, underWay, quiet = [], leaseMs }: ClaimOptions): Promise<Claim[]> {
  const all = underWay.reduce((sum, { count }) => sum + count, 0);
  const lease = sql`now() + ${leaseMs} * interval '1 millisecond'`;
  const { rows } = await sql<Claim>`
    with under_way as (
      select * from unnest(
        ${underWay.map(({ channel }) => channel.organization)}::text[],
        ${underWay.map(({ channel }) => channel.namespace)}::text[],
        ${underWay.map(({ channel }) => channel.name)}::text[], ${underWay.map(({ count }) => count)}::integer[]
      ) as u (organization, namespace, name, of_channel)
    ), alone as (
      select organization, namespace, name from channels
      where (failing_since is not null or type <> 'webhook') and (open_until is null or open_until <= now())
        and (organization, namespace, name) not in (select * from unnest(
          ${quiet.map(({ organization }) => organization)}::text[], ${quiet.map(({ namespace }) => namespace)}::text[],
          ${quiet.map(({ name }) => name)}::text[]
        ))
      for update skip locked
    ), free as (
      select w.*, coalesce(of_channel, 0) as of_channel, coalesce(of_organization, 0) as of_organization
      from channels w left join under_way using (organization, namespace, name)
        left join (select organization, sum(of_channel) as of_organization from under_way group by 1) o using (organization)
      where (w.open_until is null or w.open_until <= now())
        and (w.failing_since is null and w.type = 'webhook' or (w.organization, w.namespace, w.name) in (select * from alone))
        and coalesce(of_channel, 0) < ${slots.ofChannel}::integer
        and coalesce(of_organization, 0) < ${slots.ofOrganization}::integer
    ), due as (
      select d.id, d.next_attempt_at, w.organization, w.namespace, w.name, w.type, w.failing_since, w.of_organization,
        w.of_channel + row_number() over (
          partition by w.organization, w.namespace, w.name order by d.next_attempt_at, d.sequence
        ) as place
      from free w cross join lateral (
        select d.* from (${dueOfChannel}) d
        cross join lateral (select e.id from deliveries e where ${inLine} order by e.sequence limit 1) oldest
        cross join lateral (
          select from deliveries e where (e.organization, e.id) = (w.organization, d.id) and ${stillWaiting}
            and e.next_attempt_at <= now() for update skip locked
        ) locked
        where oldest.id = d.id limit ${slots.ofChannel}::integer
      ) d
    ), placed as (
      select *, of_organization + row_number() over (partition by organization order by place, next_attempt_at) as turn
      from due where case when failing_since is null and type = 'webhook' then place <= ${slots.ofChannel}::integer else place = 1 end
    ), numbered as (
      select *, ${all}::integer + row_number() over (order by turn, next_attempt_at) as slot
      from placed where turn <= ${slots.ofOrganization}::integer
    ), chosen as (
      select id, organization, namespace, name, type from numbered
      where slot <= ${slots.shared}::integer or (turn = 1 and slot <= ${slots.total}::integer)
    ), claimed as (
      update deliveries set attempts = attempts + 1, next_attempt_at = ${lease}
      where id = any(array(select id from chosen where type = 'webhook'))
      returning organization, channel_namespace as namespace, channel_name as name, array[id] as ids,
        attempts, 1 as count, 0 as good, jsonb_build_array(event) as events, automation_id
    ), closed as (
      update channels w set open_until = ${lease} from chosen c
      where (w.organization, w.namespace, w.name) = (c.organization, c.namespace, c.name)
        and (w.failing_since is not null or w.type <> 'webhook')
    ), together as (
      select w.organization, w.namespace, w.name, told.*, named.* from chosen w
      cross join lateral (
        select array_agg(d.id order by d.sequence) as ids, max(d.attempts) + 1 as attempts,
          count(*)::integer as count, (count(*) filter (where d.is_good))::integer as good
        from (
          select d.id, d.sequence, d.attempts, d.event ->> 'type' in (${goodNews}) as is_good
          from deliveries d
          where (d.organization, d.channel_namespace, d.channel_name) = (w.organization, w.namespace, w.name)
            and d.delivered_at is null and d.given_up_at is null and d.next_attempt_at <= now()
          order by d.next_attempt_at, d.sequence limit ${mostTogether}
        ) d
      ) told
      cross join lateral (
        select jsonb_agg(d.event order by d.sequence) as events,
          (array_agg(d.automation_id order by d.sequence))[1] as automation_id
        from deliveries d where d.id = any(told.ids[1:${mostNamed}])
      ) named
      where w.type <> 'webhook'
    )
    select told.ids[1] as id, told.ids::text[], automation_id, organization, namespace, name, w.type, w.url, w."to",
      w.allow_private, told.events, told.count, told.attempts, told.good
    from (select * from claimed union all select * from together) told join channels w using (organization, namespace, name)
  `.execute(db);
  return rows;
}
