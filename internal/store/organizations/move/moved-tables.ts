import type { Database } from '../../database.ts';

/** A database of a move. */
export interface NamedDatabase {
  name: string;
  db: Database;
  /** Its address, as the server of the other database reaches it. */
  url: string;
}

/** A move that is under way. */
export interface Move {
  source: NamedDatabase;
  target: NamedDatabase;
  organization: string;
}

/**
 * What owners declare in the console. A move copies it while nobody may change it. It stays in the
 * source, as the record does: a console with an old map reads it there, and cannot change it.
 */
export const declared = [
  { name: 'console_automations', key: ['automation_id'] },
  { name: 'console_channels', key: ['name'] },
] as const;

/**
 * What Postgres replicates of an organization, its record and its log, with the other key columns.
 */
export const replicated = [
  { name: 'events', key: 'created_at, id' },
  { name: 'cold_days', key: 'day, object' },
  { name: 'executions', key: 'automation_id, execution_id' },
  { name: 'running_executions', key: 'automation_id, execution_id' },
  { name: 'compacted_executions', key: 'id' },
  { name: 'compacted_keys', key: 'key, block' },
  { name: 'dead_letters', key: 'id' },
  { name: 'erasures', key: 'id' },
  { name: 'acts', key: 'id' },
  { name: 'log_segments', key: 'id' },
  { name: 'log_tails', key: 'first_index' },
  { name: 'log_tiles', key: 'level, index' },
  { name: 'log_trees', key: 'organization' },
  { name: 'log_checkpoints', key: 'hour' },
  { name: 'log_acts', key: 'id' },
] as const;
