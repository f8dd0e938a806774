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
 * The indexes of `internal/record`. None is on a column that each event changes: Postgres updates
 * an execution in place only if no indexed column changes. So the failed ones are those with an
 * ERROR, whatever their state: END does not touch these indexes. None holds a text of a caller:
 * an entry of an index has 2,700 bytes at most, and Postgres refuses an event with a longer one.
 */
export const readerIndexes: readonly ReaderIndex[] = [
  { name: 'executions_newest', table: 'executions', on: newest },
  { name: 'executions_of_automation', table: 'executions', on: newestOfAutomation },
  { name: 'executions_failed', table: 'executions', on: `${newest} where error_count > 0` },
  { name: 'executions_failed_of_automation', table: 'executions', on: `${newestOfAutomation} where error_count > 0` },
  { name: 'executions_running_newest', table: 'executions', on: `${newest} where state = 'running'` },
  {
    name: 'executions_with_anomaly',
    table: 'executions',
    on: `${newest} where start_missing or start_repeated or start_late or event_after_end`,
  },
  {
    name: 'events_errors',
    table: 'events',
    on: `(organization, created_at, id) where kind = 'ERROR'`,
  },
];

/**
 * Indexes of earlier releases that these replace. Without `executions_running`, a worker of an
 * earlier release sorts the running executions to count them.
 */
export const obsoleteIndexes: readonly string[] = ['executions_running'];

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
