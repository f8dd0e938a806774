import { hash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';

/** All columns of `executions`, in the order of {@link expanded}. */
export const allColumns = sql.raw(`
  organization, automation_id, execution_id, state, first_event_at, last_event_at, started_at, failed_at, ended_at,
  start_count, event_count, warning_count, error_count, end_count,
  start_missing, start_repeated, start_late, event_after_end, last_accepted_at
`);

const ms = sql.raw(`interval '1 ms'`);

/** The query of the executions in blocks `compacted_executions`, as rows of `executions`. */
export function expanded(blocks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select b.organization, b.automation_id, coalesce(u.name, u.id::text) collate "C" as execution_id,
      case when u.error_count > 0 then 'failed' when u.end_count > 0 then 'succeeded' else 'running' end as state,
      f.first_event_at, l.last_event_at, f.first_event_at + u.started_after * ${ms} as started_at,
      f.first_event_at + u.failed_after * ${ms} as failed_at, l.last_event_at - u.ended_before * ${ms} as ended_at,
      u.start_count, u.event_count, u.warning_count, u.error_count, u.end_count,
      u.start_count = 0 as start_missing, u.start_count > 1 as start_repeated,
      coalesce(u.started_after > 0, false) as start_late, coalesce(u.ended_before > 0, false) as event_after_end,
      l.last_event_at + u.accepted_after * ${ms} as last_accepted_at
    from (${blocks}) as b
    cross join lateral unnest(
      b.ids, b.names, b.first_after, b.last_after, b.started_after, b.failed_after, b.ended_before, b.accepted_after,
      b.start_counts, b.event_counts, b.warning_counts, b.error_counts, b.end_counts
    ) as u (
      id, name, first_after, last_after, started_after, failed_after, ended_before, accepted_after,
      start_count, event_count, warning_count, error_count, end_count
    )
    cross join lateral (select b.oldest + u.first_after * ${ms} as first_event_at) as f
    cross join lateral (select f.first_event_at + u.last_after * ${ms} as last_event_at) as l
  `;
}

/** The query of the ids of the executions in blocks. */
export function namesIn(blocks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select b.organization, b.id as block, b.automation_id, coalesce(u.name, u.id::text) collate "C" as execution_id
    from (${blocks}) as b cross join lateral unnest(b.ids, b.names) as u (id, name)
  `;
}

/** The key of an execution's id in `compacted_keys`: a few executions may share it. */
export function keyOf(executionId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`('x' || encode(substring(sha256(convert_to((${executionId})::text, 'UTF8')) for 4), 'hex'))::bit(32)::integer`;
}

/** The same, of a text. */
export function keyOfText(executionId: string): number {
  return hash('sha256', executionId, 'buffer').readInt32BE();
}

/** Of ids: where `ids` of a block has it, and not `names`. */
const uuid = "'^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'";

/** True for an id that Postgres writes the same way as a UUID. */
export function isUuid(executionId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${executionId} ~ ${sql.raw(uuid)}`;
}

/** True if a block has an execution: its key alone may be that of another one. */
export function hasExecution(block: RawBuilder<unknown>, executionId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    case when ${isUuid(executionId)} then ${executionId}::uuid = any(${block}.ids)
      else ${executionId} = any(${block}.names) end
  `;
}

/** Which executions are wanted, in SQL: `automationId` may be `any(…)`, or absent for all. */
export interface WantedIds {
  organization: RawBuilder<unknown>;
  automationId?: RawBuilder<unknown>;
  executionId: RawBuilder<unknown>;
  /** Of the id, where it is known. */
  key?: RawBuilder<unknown>;
}

/**
 * The query of the blocks that may have an execution. It searches by the key and then by the block,
 * whatever Postgres knows of the tables: from few or old statistics it chose to read all blocks.
 */
export function blocksWith(wanted: WantedIds): RawBuilder<unknown> {
  const { organization, automationId, executionId, key = keyOf(executionId) } = wanted;
  const ofAutomation = automationId === undefined ? sql`` : sql`where c.automation_id = ${automationId}`;
  return sql`
    select c.* from (
      select k.organization, k.block from compacted_keys k
      where k.organization = ${organization} and k.key = ${key} offset 0
    ) as k
    cross join lateral (
      select * from compacted_executions b where b.organization = k.organization and b.id = k.block offset 0
    ) as c
    ${ofAutomation}
  `;
}

/** The query of the compacted executions with an id, as rows of `executions`. */
export function compactedWithId(wanted: WantedIds): RawBuilder<unknown> {
  return sql`select * from (${expanded(blocksWith(wanted))}) as compacted where execution_id = ${wanted.executionId}`;
}

/** The query of the executions with an id, wherever they are, as rows of `executions`. */
export function executionsWithId(wanted: WantedIds & Required<Pick<WantedIds, 'automationId'>>): RawBuilder<unknown> {
  return sql`
    select ${allColumns} from executions
    where organization = ${wanted.organization} and automation_id = ${wanted.automationId}
      and execution_id = ${wanted.executionId}
    union all
    ${compactedWithId(wanted)}
  `;
}

/** The query of when executions in blocks began, and whether they failed. */
export function startsIn(blocks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select b.oldest + u.first_after * ${ms} as first_event_at, u.failed_after is not null as failed
    from (${blocks}) as b cross join lateral unnest(b.first_after, b.failed_after) as u (first_after, failed_after)
  `;
}

/** The query of all executions of an organization, wherever they are. */
export function everyExecution(organization: string): RawBuilder<unknown> {
  return sql`
    select ${allColumns} from executions where organization = ${organization}
    union all
    ${expanded(sql`select * from compacted_executions where organization = ${organization}`)}
  `;
}

/** Each block spans less than this, in ms, so readers look no further for those around a time. */
export const longestBlockMs = 7 * 24 * 3_600_000;

/** The same as an interval: in hours, since a day of a time zone may have 23. */
export const longestBlock = sql.raw(`interval '${longestBlockMs / 3_600_000} hours'`);

/** A time before which no compacted execution began, as an expression; null without any. */
export function noneBefore(organization: string): RawBuilder<unknown> {
  return sql`(
    select min(newest) - ${longestBlock}
    from compacted_executions where organization = ${organization}
  )`;
}
