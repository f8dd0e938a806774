import type { Database } from '../store/database.ts';
import { sql, type RawBuilder } from '../store/sql.ts';
import type { Automation, AutomationPosition } from './automation.ts';
import { automationsOf, type Part } from './automations-of.ts';
import { all, when, type Condition } from './conditions.ts';
import { executionOf, shownColumns, type ExecutionRow } from './execution.ts';
import type { Window } from './filters.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs } from './read-as.ts';
import { figuresOf, timesOf, windowFigures, type FiguresRow } from './window-figures.ts';

/** Most executions that the figures of an automation cover, and the figures of a page. */
const most = 1_000;
const mostOfPage = 3_000;

/** Most automations on a page. */
const largestPage = 50;

/**
 * Columns of the execution are null without one. `listed`: automations of the page, and one more.
 */
type AutomationRow = FiguresRow & { id: string; listed: number } & (ExecutionRow | { execution_id: null });

/**
 * Automations that have an execution or are declared, in the order of their ids, each with its last
 * execution and its figures. `only` restricts them to some. A page has at most 50, whatever its
 * limit. It ends earlier when the figures of one more could cover more than 3,000 executions.
 */
export function listAutomations(
  db: Database,
  organization: string,
  window: Window,
  { limit, after }: PageRequest<AutomationPosition>,
  only?: readonly string[],
): Promise<Page<Automation, AutomationPosition>> {
  const part = { after: after?.automationId, most: Math.min(limit, largestPage) + 1 };
  return readAs(db, organization, async (trx) => {
    const { rows } = await automationsWithFigures(organization, window, part, only).execute(trx);
    const last = rows.at(-1);
    const next = last !== undefined && last.listed > rows.length ? { automationId: last.id } : undefined;
    return { items: rows.map((row) => automationOf(row, window)), next };
  });
}

/** One query whose recursion counts the executions covered so far. */
function automationsWithFigures(
  organization: string,
  window: Window,
  part: Required<Part>,
  only: readonly string[] | undefined,
): RawBuilder<AutomationRow> {
  const everyone = sql`(${automationsOf(organization, part)}) union (${declaredOf(organization, part)})`;
  const figures = figuresOf(organization, sql`listed.automation_id`, timesOf(window), most);
  return sql<AutomationRow>`
    with recursive listed as materialized (
      select automation_id, row_number() over (order by automation_id) as number from (
        ${only === undefined ? everyone : chosenOf(only, part)}
      ) as automations
      order by automation_id limit ${part.most}
    ),
    page as (
      select listed.automation_id as id, listed.number, figures.*, figures.counted as covered
      from listed cross join lateral (${figures}) as figures where listed.number = 1
      union all
      select listed.automation_id, listed.number, figures.*, page.covered + figures.counted
      from page join listed on listed.number = page.number + 1 cross join lateral (${figures}) as figures
      where listed.number < ${part.most} and page.covered <= ${mostOfPage - most}
    )
    select page.*, last.*, (select count(*)::integer from listed) as listed from page
    left join lateral (
      select ${shownColumns(organization)} from executions as r
      where organization = ${organization} and automation_id = page.id
      order by first_event_at desc, execution_id desc limit 1
    ) as last on true
    order by page.number
  `;
}

/** The query of these automations. */
function chosenOf(only: readonly string[], { after, most }: Part): Condition {
  const following = when(after, (after) => sql`automation_id > ${after}::uuid`);
  return sql`
    select automation_id from unnest(${[...only]}::uuid[]) as automation_id where ${all(following)}
    order by automation_id limit ${most}
  `;
}

/** The query of an organization's declared automations, with and without executions. */
function declaredOf(organization: string, { after, most }: Part): Condition {
  const following = when(after, (after) => sql`automation_id > ${after}::uuid`);
  return sql`
    select automation_id from automations where ${all([sql`organization = ${organization}`, ...following])}
    order by automation_id limit ${most}
  `;
}

function automationOf(row: AutomationRow, window: Window): Automation {
  return {
    automation: row.id,
    last_execution: row.execution_id === null ? null : executionOf(row),
    window: windowFigures(row, window, most),
  };
}
