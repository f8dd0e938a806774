import { sql, type RawBuilder } from 'kysely';

/** An index for readers. */
export interface ReaderIndex {
  name: string;
  table: 'executions' | 'events';
  /** Columns and predicate. */
  on: string;
}

const newest = '(organization, first_event_at)';
const newestOfAutomation = '(organization, automation_id, first_event_at)';

/**
 * The indexes of `internal/record`. None is on the state or on a column that each event changes:
 * Postgres updates an execution in place only if no indexed column changes
 * (docs/design/reading.md). No index holds a caller's text: Postgres would refuse an event whose
 * entry exceeds 2,700 bytes.
 */
export const readerIndexes: readonly ReaderIndex[] = [
  { name: 'executions_newest', table: 'executions', on: newest },
  { name: 'executions_of_automation', table: 'executions', on: newestOfAutomation },
  { name: 'executions_with_error', table: 'executions', on: `${newest} where failed_at is not null` },
  {
    name: 'executions_with_error_of_automation',
    table: 'executions',
    on: `${newestOfAutomation} where failed_at is not null`,
  },
  {
    name: 'executions_with_anomaly',
    table: 'executions',
    on: `${newest} where start_missing or start_repeated or start_late or event_after_end`,
  },
  // The fixed-width column comes first because it compares fastest.
  { name: 'events_of_automation', table: 'events', on: '(automation_id, organization, created_at)' },
  { name: 'events_errors', table: 'events', on: `(organization, created_at, id) where kind = 'ERROR'` },
  {
    name: 'events_errors_occurred',
    table: 'events',
    on: `(organization, occurred_at, id) where kind = 'ERROR' and occurred_at is not null`,
  },
  { name: 'events_warnings', table: 'events', on: `(organization, created_at, id) where kind = 'WARNING'` },
];

interface CreateOptions {
  name: string;
  table: string;
  how: 'concurrently' | 'only' | 'plain';
}

export function createIndex({ on }: ReaderIndex, { name, table, how }: CreateOptions): RawBuilder<unknown> {
  const concurrently = sql.raw(how === 'concurrently' ? 'concurrently' : '');
  const only = sql.raw(how === 'only' ? 'only' : '');
  return sql`create index ${concurrently} ${sql.ref(name)} on ${only} ${sql.table(table)} ${sql.raw(on)}`;
}
