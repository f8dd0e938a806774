import type { Selectable } from 'kysely';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { keyText, type Execution } from '../outcome-oracle.ts';
import type { EventsTable } from '../../../internal/store/events-table.ts';
import type { ExecutionsTable } from '../../../internal/store/executions-table.ts';
import { eventOf, executionOf } from '../store.ts';

/** Where rows can be read. */
export interface RowSource {
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
}

/** The stored events of some automations. */
export async function readEvents(database: RowSource, automations: string[]): Promise<AcceptedEvent[]> {
  const rows = await database.query<Selectable<EventsTable>>(
    'select * from events where automation_id = any($1::uuid[])',
    [automations],
  );
  return rows.map(eventOf);
}

/** The stored executions of some automations, by key, in the form of the oracle. */
export async function readExecutions(database: RowSource, automations: string[]): Promise<Map<string, Execution>> {
  const rows = await database.query<Selectable<ExecutionsTable>>(
    'select * from executions where automation_id = any($1::uuid[])',
    [automations],
  );
  return new Map(rows.map(executionOf).map((execution) => [keyText(execution), execution]));
}
