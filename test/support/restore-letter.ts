import { optionalFields } from '../../internal/event/fields.ts';
import { mergedOutcome } from '../../internal/store/record-events-statement.ts';

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
insert into executions as e (
  organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at, ended_at,
  start_count, event_count, warning_count, error_count, end_count, last_accepted_at
)
select
  organization, automation_id, execution_id, at, at, case kind when 'START' then at end,
  case kind when 'ERROR' then at end, case kind when 'END' then at end, (kind = 'START')::integer,
  (kind = 'EVENT')::integer, (kind = 'WARNING')::integer, (kind = 'ERROR')::integer, (kind = 'END')::integer,
  case when occurred_at is not null then created_at end
from stored as s
where case when exists (
  select from compacted_executions c where (c.organization, c.automation_id) = (s.organization, s.automation_id)
    and s.execution_id = any(c.ids::text[] || c.names)
) then refuse_compacted() else true end
on conflict (organization, automation_id, execution_id) do update set
  ${mergedOutcome.trim()}
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
