import { sql } from '../store/sql.ts';

/** The times of a row of `executions`. */
interface Times {
  first_event_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
}

/**
 * How long an execution took, in ms: from its first event to END. Null without START or END, and
 * where both came at once, as from a tool that reports only ends.
 */
export function durationOf(row: Times): number | null {
  const { first_event_at: first, started_at: started, ended_at: ended } = row;
  if (started === null || ended === null) return null;
  return ended.getTime() - first.getTime() || null;
}

/** The same for a row of `executions`, as an SQL expression. */
export const duration = sql.raw(
  `case when started_at is not null
    then nullif(extract(epoch from ended_at - first_event_at)::float8 * 1000, 0) end`,
);
