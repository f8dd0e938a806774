import { optionalFields } from '../../internal/event/fields.ts';

/**
 * The statement of the runbook that stores a dead letter as if it had not been refused. A letter
 * of an earlier release lacks the texts of later fields.
 */
export function restoringStatement(): string {
  const columns = optionalFields.map(({ column }) => column).join(', ');
  const texts = optionalFields.map(({ property }) => `coalesce(e->>'${property}', '')`).join(', ');
  return `\`\`\`sql
with letter as (
  delete from dead_letters where organization = 'acme' and id = '<id>'
  returning convert_from(event, 'UTF8')::jsonb as e
),
stored as (
  insert into events (
    organization, created_at, id, automation_id, automation_as_sent, execution_id, kind, occurred_at, salt,
    ${columns}
  )
  select e->>'organization', to_timestamp((e->>'createdAt')::float8 / 1000), (e->>'id')::uuid, (e->>'automationId')::uuid,
    nullif(e->>'automationId', (e->>'automationId')::uuid::text), e->>'executionId', e->>'kind',
    to_timestamp((e->>'occurredAt')::float8 / 1000), uuid_send(gen_random_uuid()),
    ${texts}
  from letter
  returning *, coalesce(occurred_at, created_at) as at
),
merged as (
insert into executions as x (
  organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at, ended_at,
  start_count, event_count, warning_count, error_count, end_count, last_accepted_at
)
select
  organization, automation_id, execution_id, at, at, case kind when 'START' then at end,
  case kind when 'ERROR' then at end, case kind when 'END' then at end, (kind = 'START')::integer,
  (kind = 'EVENT')::integer, (kind = 'WARNING')::integer, (kind = 'ERROR')::integer, (kind = 'END')::integer,
  case when occurred_at is not null then created_at end
from stored
on conflict (organization, automation_id, execution_id) do update set
  first_event_at = least(x.first_event_at, excluded.first_event_at),
  last_event_at = greatest(x.last_event_at, excluded.last_event_at),
  started_at = least(x.started_at, excluded.started_at),
  failed_at = least(x.failed_at, excluded.failed_at),
  ended_at = least(x.ended_at, excluded.ended_at),
  start_count = x.start_count + excluded.start_count,
  event_count = x.event_count + excluded.event_count,
  warning_count = x.warning_count + excluded.warning_count,
  error_count = x.error_count + excluded.error_count,
  end_count = x.end_count + excluded.end_count,
  last_accepted_at = greatest(x.last_accepted_at, excluded.last_accepted_at)
  returning organization, automation_id, execution_id, first_event_at, state
)
insert into running_executions (organization, automation_id, execution_id, first_event_at)
select organization, automation_id, execution_id, first_event_at from merged where state = 'running'
on conflict (organization, automation_id, execution_id) do update set first_event_at = excluded.first_event_at;
delete from running_executions r using executions e
where e.organization = 'acme' and e.state <> 'running'
  and (r.organization, r.automation_id, r.execution_id) = (e.organization, e.automation_id, e.execution_id);
\`\`\``;
}
