import type { Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';

/** An execution started, succeeded or failed. */
export interface ExecutionStep {
  automationId: string;
  executionId: string;
  state: 'started' | 'succeeded' | 'failed';
  at: Date;
  errorId: string;
  errorDescription: string;
}

/** The steps of a part of the time. */
export interface StepsUntil {
  steps: ExecutionStep[];
  /** All steps up to this time are there: the time asked for, or an earlier one. */
  until: Date;
}

interface Row {
  automation_id: string;
  execution_id: string;
  kind: 'START' | 'ERROR' | 'END';
  created_at: Date;
  error_id: string;
  error_description: string;
}

const states = { START: 'started', ERROR: 'failed', END: 'succeeded' } as const;

/** Longest error description in a notification, in characters. */
const longestDescription = 2_000;

/**
 * The steps of an organization's executions after `from`, up to `to`, in the order of acceptance;
 * at most about `most`. `to` must not be later than the watermark: then the steps of a time are the
 * same whenever they are read. An execution starts with its first START and fails with its first
 * ERROR. It succeeds with its first END unless an ERROR came before; a later ERROR is a further
 * step.
 */
export async function executionSteps(
  trx: Transaction<Tables>,
  organization: string,
  { from, to, most }: { from: Date; to: Date; most: number },
): Promise<StepsUntil> {
  const rows = await readRows(trx, organization, { from, to, most: most + 1 });
  const next = rows[most];
  if (next === undefined) return { steps: stepsOf(rows), until: to };
  // The rest of a millisecond belongs to the same part, or would be left out.
  const until = next.created_at;
  const whole = await readRows(trx, organization, { from, to: until, most: Number.MAX_SAFE_INTEGER });
  return { steps: stepsOf(whole), until };
}

async function readRows(
  trx: Transaction<Tables>,
  organization: string,
  { from, to, most }: { from: Date; to: Date; most: number },
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select e.automation_id, e.execution_id, e.kind, e.created_at, e.error_id,
      left(e.error_description, ${sql.lit(longestDescription)}) as error_description
    from events e join executions x using (organization, automation_id, execution_id)
    where e.organization = ${organization}
      and e.created_at > ${from}::timestamptz(3) and e.created_at <= ${to}::timestamptz(3)
      and ((e.kind = 'START' and e.created_at = x.started_at)
        or (e.kind = 'ERROR' and e.created_at = x.failed_at)
        or (e.kind = 'END' and e.created_at = x.ended_at and (x.failed_at is null or x.failed_at > x.ended_at)))
    order by e.created_at, e.id limit ${most}::bigint
  `.execute(trx);
  return rows;
}

/** Two events of a kind in one millisecond are one step. */
function stepsOf(rows: readonly Row[]): ExecutionStep[] {
  const seen = new Set<string>();
  const firsts = rows.filter(({ automation_id, execution_id, kind }) => {
    const key = JSON.stringify([automation_id, execution_id, kind]);
    return !seen.has(key) && seen.add(key);
  });
  return firsts.map((row) => ({
    automationId: row.automation_id,
    executionId: row.execution_id,
    state: states[row.kind],
    at: row.created_at,
    errorId: row.error_id,
    errorDescription: row.error_description,
  }));
}
