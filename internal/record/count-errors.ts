import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time } from './conditions.ts';
import type { Steps } from './count-executions.ts';
import { neededErrors, newestErrors, readSince } from './newest-errors.ts';
import { overEvents } from './over-events.ts';

/** ERROR events of one automation with one `error_id` in a step of a window. */
export interface ErrorCount {
  automation: string;
  error_id: string;
  at: string;
  count: number;
}

/** Counts the errors of a window by automation, `error_id` and step. */
export function countErrors(
  db: Database,
  organization: string,
  { stepMs, offsetMs = 0, ...window }: Steps,
): Promise<ErrorCount[]> {
  const step = sql`${stepMs / 1_000}::integer * interval '1 second'`;
  return overEvents(db, organization, neededErrors(window), async (trx, events) => {
    const read = { ...window, from: readSince(events, window.from) };
    const { rows } = await sql<{ automation_id: string; error_id: string; step: Date; count: number }>`
      select automation_id, error_id, count(*)::integer as count,
        date_bin(${step}, newest.at, ${time(new Date(-offsetMs))}) as step
      from (${newestErrors(organization, read, events.source)}) as newest
      group by automation_id, error_id, step
    `.execute(trx);
    return rows.map(({ automation_id, error_id, step: at, count }) => ({
      automation: automation_id,
      error_id,
      at: at.toISOString(),
      count,
    }));
  });
}
