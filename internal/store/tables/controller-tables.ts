import type { ColumnType, Generated } from 'kysely';

/** The table `controller_state`: one row, which all controllers share. */
export interface ControllerStateTable {
  only_row: Generated<boolean>;
  /** All events accepted before this time are stored. Never moves back. */
  watermark: Date | null;
  /** When the watermark last moved, by the clock of Postgres. */
  watermark_at: Date | null;
  ticked_at: Date | null;
  blind_since: Date | null;
  blind_reason: string | null;
  /** Channels about executions are in the outbox up to this time. */
  executions_until: Date | null;
  /** The same per organization that is behind, in ISO 8601; written as JSON. */
  executions_behind: ColumnType<Record<string, string>, string | undefined, string>;
  /** The addresses of the Alertmanagers that the controllers tell. */
  alertmanagers: Generated<string[]>;
}

/** The table `record_gaps`: times in which ingest may have rejected events. */
export interface RecordGapsTable {
  from_at: Date;
  until_at: Date;
  reason: string;
}
