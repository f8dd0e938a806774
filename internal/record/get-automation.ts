import type { Database } from '../store/database.ts';
import { mayBeCold } from '../store/partitions/cold-days.ts';
import { sql } from '../store/sql.ts';
import type { AutomationDetail, SeriesPoint, SeriesStep } from './automation.ts';
import { time } from './conditions.ts';
import { executionOf, shownColumns, type ExecutionRow } from './execution.ts';
import type { Window } from './filters.ts';
import { readAs, type Reading } from './read-as.ts';
import { countsOf, figuresOf, timesOf, windowFigures, type FiguresRow } from './window-figures.ts';

/** Most executions that the figures cover, and the length of the list. */
const most = 5_000;
const lastExecutions = 60;

/** One automation; undefined when it has no execution and is not declared. */
export function getAutomation(
  db: Database,
  organization: string,
  automationId: string,
  window: Window & { step: SeriesStep; offsetMs?: number | undefined },
): Promise<AutomationDetail | undefined> {
  return readAs(db, organization, async (trx) => {
    const id = sql`${automationId}::uuid`;
    const [newest, { rows }] = await Promise.all([
      readLast(trx, organization, automationId),
      figuresOf(organization, id, timesOf(window), most).execute(trx),
    ]);
    const executions = newest.map(executionOf);
    const [last = null] = executions;
    if (last === null && !(await isDeclared(trx, organization, automationId))) return undefined;
    const [row] = rows;
    if (row === undefined) throw new Error('an aggregate has one row');
    const figures = windowFigures(row, window, most);
    const covered = { from: new Date(figures.from), to: window.to };
    return {
      automation: automationId.toLowerCase(),
      last_execution: last,
      window: figures,
      executions,
      series: await readSeries(trx, organization, automationId, {
        ...covered,
        step: window.step,
        offsetMs: window.offsetMs,
      }),
    };
  });
}

async function isDeclared(trx: Reading, organization: string, automationId: string): Promise<boolean> {
  const { rows } = await sql`
    select from automations where organization = ${organization} and automation_id = ${automationId}::uuid
  `.execute(trx);
  return rows.length > 0;
}

async function readLast(trx: Reading, organization: string, automationId: string): Promise<ExecutionRow[]> {
  const { rows } = await sql<ExecutionRow>`
    select ${shownColumns(organization)} from executions as r
    where organization = ${organization} and automation_id = ${automationId}::uuid
    order by first_event_at desc, execution_id desc limit ${sql.lit(lastExecutions)}
  `.execute(trx);
  return rows;
}

/** Reads each hour or day through the index, in order, so nothing needs sorting. */
async function readSeries(
  trx: Reading,
  organization: string,
  automationId: string,
  { from, to, step, offsetMs = 0 }: Window & { step: SeriesStep; offsetMs?: number | undefined },
): Promise<SeriesPoint[]> {
  const interval = sql.lit(`1 ${step}`);
  // Days of a time zone begin at its midnight.
  const offset = sql`(${sql.lit(offsetMs)} * interval '1 millisecond')`;
  const first = sql`date_trunc(${sql.lit(step)}, ${time(from)} + ${offset}, 'UTC') - ${offset}`;
  const within = {
    from: sql`greatest(at, ${time(from)})`,
    to: sql`least(at + ${interval}::interval, ${time(to)})`,
    old: mayBeCold(from.getTime()),
  };
  const { rows } = await sql<FiguresRow & { at: Date }>`
    select at, figures.*
    from generate_series(${first}, ${time(to)}, ${interval}::interval) as at
    cross join lateral (${figuresOf(organization, sql`${automationId}::uuid`, within, most)}) as figures
    where counted > 0
  `.execute(trx);
  return rows.map((row) => ({ at: row.at.toISOString(), ...countsOf(row) }));
}
