import type { Tables } from '../../store/database.ts';
import { sql, type RawBuilder, type Transaction } from '../../store/sql.ts';

/** The start, success or failure of an execution. */
export interface ExecutionStep {
  automationId: string;
  executionId: string;
  state: 'started' | 'succeeded' | 'failed';
  /** When its event was accepted. */
  at: Date;
  /** When it happened, which may be much earlier. */
  occurredAt: Date;
  errorId: string;
  errorDescription: string;
}

/** The steps of a period. */
export interface StepsUntil {
  steps: ExecutionStep[];
  /** All steps accepted up to this time are included: the requested time, or an earlier one. */
  until: Date;
}

interface Row {
  automation_id: string;
  execution_id: string;
  kind: 'START' | 'ERROR' | 'END';
  created_at: Date;
  occurred_at: Date;
  error_id: string;
  error_description: string;
}

const states = { START: 'started', ERROR: 'failed', END: 'succeeded' } as const;
const kinds = sql`('START', 'ERROR', 'END')`;

/** Maximum length of an error description in a notification, in characters. */
const longestDescription = 2_000;

/** A window of acceptance times: after `from`, up to `to`. */
interface Window {
  from: Date;
  to: Date;
}

/**
 * The steps of an organization's executions that were accepted after `from`, up to `to`, in order
 * of acceptance; about `most` events are read. `to` must not be after the watermark, so that the
 * steps of a window never change. An execution starts with its first START and fails with its first
 * ERROR. It succeeds with its first END unless an ERROR came before; a later ERROR is a further
 * step. Only the order of acceptance matters, not when the events happened.
 */
export async function executionSteps(
  trx: Transaction<Tables>,
  organization: string,
  { from, to, most }: Window & { most: number },
): Promise<StepsUntil> {
  const { rows } = await sql<{ created_at: Date }>`
    select e.created_at from events e where ${isIn(organization, { from, to })}
    order by e.created_at, e.id offset ${most - 1}::bigint limit 1
  `.execute(trx);
  // The rest of the last millisecond belongs to this window, or it would be lost.
  const until = rows[0]?.created_at ?? to;
  return { steps: (await readSteps(trx, organization, { from, to: until })).map(stepOf), until };
}

function isIn(organization: string, { from, to }: Window): RawBuilder<boolean> {
  return sql`e.organization = ${organization} and e.kind in ${kinds}
    and e.created_at > ${from}::timestamptz(3) and e.created_at <= ${to}::timestamptz(3)`;
}

/**
 * The counts of an execution say whether it has more events of a kind than the window has. Only
 * then is it looked up whether one of them came before the window.
 */
async function readSteps(trx: Transaction<Tables>, organization: string, window: Window): Promise<Row[]> {
  const came = (kind: RawBuilder<unknown>) => sql`exists (
    select from events p
    where (p.organization, p.automation_id, p.execution_id) = (x.organization, x.automation_id, x.execution_id)
      and p.kind = ${kind} and p.created_at <= ${window.from}::timestamptz(3)
      -- Spares days without an event of it: none happened long after it was accepted.
      and p.created_at > x.first_event_at - interval '1 day'
  )`;
  const { rows } = await sql<Row>`
    with accepted as (
      select e.automation_id, e.execution_id, e.kind, e.created_at, e.id,
        row_number() over of_kind as place, count(*) over (partition by e.automation_id, e.execution_id, e.kind) as here,
        min(e.created_at) filter (where e.kind = 'ERROR') over (partition by e.automation_id, e.execution_id) as failed_at
      from events e where ${isIn(organization, window)}
      window of_kind as (partition by e.automation_id, e.execution_id, e.kind order by e.created_at, e.id)
    )
    select e.automation_id, e.execution_id, e.kind, e.created_at, coalesce(e.occurred_at, e.created_at) as occurred_at, e.error_id,
      left(e.error_description, ${sql.lit(longestDescription)}) as error_description
    from accepted a
      join events e on (e.organization, e.created_at, e.id) = (${organization}, a.created_at, a.id)
      join executions x on (x.organization, x.automation_id, x.execution_id)
        = (${organization}, a.automation_id, a.execution_id)
    where a.place = 1
      and (a.here = case a.kind when 'START' then x.start_count when 'ERROR' then x.error_count else x.end_count end
        or not ${came(sql`a.kind`)})
      and (a.kind <> 'END' or x.error_count = 0
        or (coalesce(a.failed_at > a.created_at, true) and not ${came(sql`'ERROR'`)}))
    order by a.created_at, a.id
  `.execute(trx);
  return rows;
}

function stepOf(row: Row): ExecutionStep {
  return {
    automationId: row.automation_id,
    executionId: row.execution_id,
    state: states[row.kind],
    at: row.created_at,
    occurredAt: row.occurred_at,
    errorId: row.error_id,
    errorDescription: row.error_description,
  };
}
