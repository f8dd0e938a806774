import { sql, type RawBuilder } from 'kysely';
import { saltSize, sealSize } from '../event/digest.ts';
import type { AcceptedEvent } from '../event/event.ts';
import { optionalFields } from '../event/fields.ts';
import type { ExecutionState } from '../event/outcome/execution-state.ts';
import { textArray, timeArray, uuidArray } from './array-parameters.ts';
import { appendLeaves } from './ledger/append-leaves.ts';
import type { BatchProof } from './ledger/leaves-of-batch.ts';

/** One row of the result of {@link insertAndMerge}: the changes by organization and transition. */
export interface ChangeRow {
  organization: string;
  from_state: ExecutionState | 'none';
  to_state: ExecutionState;
  executions: number;
  events: number;
  /** Executions whose event order this change shows to be broken, by anomaly (`StoredBatch`). */
  start_missing: number;
  start_repeated: number;
  start_late: number;
  event_after_end: number;
}

/** The columns of the optional fields. */
const texts = sql.join(optionalFields.map(({ column }) => sql.ref(column)));

/** The columns of `executions` that Postgres does not generate, in the order of {@link outcome}. */
export const executionColumns = sql`
  organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at, ended_at,
  start_count, event_count, warning_count, error_count, end_count, last_accepted_at
`;

/** The times of an event that {@link outcome} reads. */
export const timesOfEvent = sql`
  coalesce(occurred_at, created_at) as at, case when occurred_at is not null then created_at end as accepted_at
`;

/** The execution that a group of events gives. */
export const outcome = sql`
  organization, automation_id, execution_id,
  min(at) as first_event_at,
  max(at) as last_event_at,
  min(at) filter (where kind = 'START') as started_at,
  min(at) filter (where kind = 'ERROR') as failed_at,
  min(at) filter (where kind = 'END') as ended_at,
  count(*) filter (where kind = 'START')::integer as start_count,
  count(*) filter (where kind = 'EVENT')::integer as event_count,
  count(*) filter (where kind = 'WARNING')::integer as warning_count,
  count(*) filter (where kind = 'ERROR')::integer as error_count,
  count(*) filter (where kind = 'END')::integer as end_count,
  max(accepted_at) as last_accepted_at
`;

/** What an execution `e` becomes by that of more events. */
export const mergedOutcome = `
  first_event_at = least(e.first_event_at, excluded.first_event_at),
  last_event_at = greatest(e.last_event_at, excluded.last_event_at),
  started_at = least(e.started_at, excluded.started_at),
  failed_at = least(e.failed_at, excluded.failed_at),
  ended_at = least(e.ended_at, excluded.ended_at),
  start_count = e.start_count + excluded.start_count,
  event_count = e.event_count + excluded.event_count,
  warning_count = e.warning_count + excluded.warning_count,
  error_count = e.error_count + excluded.error_count,
  end_count = e.end_count + excluded.end_count,
  last_accepted_at = greatest(e.last_accepted_at, excluded.last_accepted_at)
`;

const noSalt = String.raw`\x` + '00'.repeat(saltSize);

export interface InsertOptions {
  /** An event that is already stored makes the statement fail (`isDuplicate`), or is skipped. */
  duplicates: 'refuse' | 'skip';
  /** Undefined without a log: then no row gets a salt. */
  proof: BatchProof | undefined;
}

/** The salt of the event at `place`: null for zeros. */
function saltAt(seals: Buffer): RawBuilder<unknown> {
  const salt = sql`substring(${seals}::bytea from ((place - 1) * ${sql.lit(sealSize)} + 1)::integer for ${sql.lit(saltSize)})`;
  return sql`nullif(${salt}, ${sql.lit(noSalt)}::bytea)`;
}

/** The `automation_id` as the caller wrote it, where Postgres writes it in another way. */
function asSentUnlessCanonical({ automationId }: AcceptedEvent): string | null {
  return automationId === automationId.toLowerCase() ? null : automationId;
}

/** The statement that inserts events and merges the changes into their executions. */
export function insertAndMerge(
  events: readonly AcceptedEvent[],
  { duplicates, proof }: InsertOptions,
): RawBuilder<ChangeRow> {
  const onlyWithLog = (part: RawBuilder<unknown>): RawBuilder<unknown> => (proof === undefined ? sql`` : part);
  return sql<ChangeRow>`
    with input as (
      select * from unnest(
        ${textArray(events.map((event) => event.organization))},
        ${timeArray(events.map((event) => event.createdAt))},
        ${uuidArray(events.map((event) => event.id))},
        ${uuidArray(events.map((event) => event.automationId))},
        ${textArray(events.map(asSentUnlessCanonical))},
        ${textArray(events.map((event) => event.executionId))},
        ${textArray(events.map((event) => event.kind))},
        ${timeArray(events.map((event) => event.occurredAt ?? null))},
        ${sql.join(optionalFields.map(({ property }) => textArray(events.map((event) => event[property]))))}
      ) ${onlyWithLog(sql`with ordinality`)} as t (
        organization, created_at, id, automation_id, automation_as_sent,
        execution_id, kind, occurred_at, ${texts} ${onlyWithLog(sql`, place`)}
      )
    ),
    inserted as (
      insert into events (
        organization, created_at, id, automation_id, automation_as_sent,
        execution_id, kind, occurred_at, ${texts} ${onlyWithLog(sql`, salt`)}
      )
      select
        organization, created_at, id, automation_id, automation_as_sent,
        execution_id, kind, occurred_at, ${texts} ${proof === undefined ? sql`` : sql`, ${saltAt(proof.seals)}`}
      from input
      ${duplicates === 'skip' ? sql`on conflict do nothing` : sql``}
      returning
        organization, automation_id, execution_id, kind, ${timesOfEvent}
        ${duplicates === 'skip' ? onlyWithLog(sql`, id`) : sql``}
    ),
    ${proof === undefined ? sql`` : appendLeaves(events, proof, duplicates)}
    change as (
      select ${outcome}, count(*)::integer as total
      from inserted
      group by organization, automation_id, execution_id
    ),
    merged as (
      insert into executions as e (${executionColumns})
      select ${executionColumns}
      from change
      order by automation_id, execution_id, organization
      on conflict (organization, automation_id, execution_id) do update set
        ${sql.raw(mergedOutcome)}
      returning
        organization, automation_id, execution_id, state, error_count, end_count, start_count, ended_at,
        start_missing, start_late,
        first_event_at, start_count + event_count + warning_count + error_count + end_count as total
    ),
    changed as (
      select
        organization, automation_id, execution_id, merged.first_event_at, change.total,
        case
          when merged.total = change.total then 'none'
          when merged.error_count > change.error_count then 'failed'
          when merged.end_count > change.end_count then 'succeeded'
          else 'running'
        end as from_state,
        merged.state as to_state,
        merged.start_missing and change.end_count > 0 and merged.end_count = change.end_count as start_missing,
        merged.start_count > 1 and change.start_count > 0 as start_repeated,
        merged.start_late and merged.start_count = change.start_count as start_late,
        change.last_event_at > merged.ended_at as event_after_end
      from merged join change using (organization, automation_id, execution_id)
    ),
    begun as (
      insert into running_executions (organization, automation_id, execution_id, first_event_at)
      select organization, automation_id, execution_id, first_event_at from changed
      where from_state = 'none' and to_state = 'running'
      on conflict (organization, automation_id, execution_id) do update
        set first_event_at = excluded.first_event_at, lost_at = null
    )
    select
      organization, from_state, to_state,
      count(*)::integer as executions,
      sum(total)::integer as events,
      (count(*) filter (where start_missing))::integer as start_missing,
      (count(*) filter (where start_repeated))::integer as start_repeated,
      (count(*) filter (where start_late))::integer as start_late,
      (count(*) filter (where event_after_end))::integer as event_after_end
    from changed
    group by 1, 2, 3
  `;
}
