import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { EventKind } from '../../../internal/event/schema.ts';
import { keyText, type Execution } from '../../../internal/outcome/outcome.ts';

/** Where rows can be read. */
export interface RowSource {
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
}

interface EventRow {
  id: string;
  organization: string;
  automation_id: string;
  automation_as_sent: string | null;
  execution_id: string;
  kind: EventKind;
  description: string;
  error_id: string;
  error_description: string;
  created_at: Date;
}

/** The stored events of some automations. */
export async function readEvents(database: RowSource, automations: string[]): Promise<AcceptedEvent[]> {
  const rows = await database.query<EventRow>('select * from events where automation_id = any($1::uuid[])', [
    automations,
  ]);
  return rows.map((row) => ({
    id: row.id,
    organization: row.organization,
    automationId: row.automation_as_sent ?? row.automation_id,
    executionId: row.execution_id,
    kind: row.kind,
    description: row.description,
    errorId: row.error_id,
    errorDescription: row.error_description,
    createdAt: row.created_at.getTime(),
  }));
}

interface ExecutionRow {
  organization: string;
  automation_id: string;
  execution_id: string;
  state: Execution['state'];
  first_event_at: Date;
  last_event_at: Date;
  started_at: Date | null;
  failed_at: Date | null;
  ended_at: Date | null;
  start_count: number;
  event_count: number;
  warning_count: number;
  error_count: number;
  end_count: number;
  start_missing: boolean;
  start_repeated: boolean;
  start_late: boolean;
  event_after_end: boolean;
}

/** The stored executions of some automations, by key, in the form of the oracle. */
export async function readExecutions(database: RowSource, automations: string[]): Promise<Map<string, Execution>> {
  const rows = await database.query<ExecutionRow>('select * from executions where automation_id = any($1::uuid[])', [
    automations,
  ]);
  const executions = rows.map((row): Execution => ({
    organization: row.organization,
    automationId: row.automation_id,
    executionId: row.execution_id,
    state: row.state,
    firstEventAt: row.first_event_at.getTime(),
    lastEventAt: row.last_event_at.getTime(),
    startedAt: row.started_at?.getTime() ?? null,
    failedAt: row.failed_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    counts: {
      START: row.start_count,
      EVENT: row.event_count,
      WARNING: row.warning_count,
      ERROR: row.error_count,
      END: row.end_count,
    },
    startMissing: row.start_missing,
    startRepeated: row.start_repeated,
    startLate: row.start_late,
    eventAfterEnd: row.event_after_end,
  }));
  return new Map(executions.map((execution) => [keyText(execution), execution]));
}
