import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { Automation, AutomationPosition } from './automation.ts';
import { automationsOf } from './automations-of.ts';
import { executionColumns, executionOf, type ExecutionRow } from './execution.ts';
import type { Window } from './filters.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs } from './read-as.ts';
import { figuresOf, timesOf, windowFigures, type FiguresRow } from './window-figures.ts';

/** Most executions that the figures of an automation cover. */
const most = 1_000;

/** Most automations of a page, so that the figures of one page cover 50,000 executions. */
const largestPage = 50;

/**
 * Automations in the order of their ids, each with its last execution and its figures. A page has
 * at most 50, whatever its limit.
 */
export function listAutomations(
  db: Database,
  organization: string,
  window: Window,
  { limit: asked, after }: PageRequest<AutomationPosition>,
): Promise<Page<Automation, AutomationPosition>> {
  const limit = Math.min(asked, largestPage);
  const page = automationsOf(organization, { after: after?.automationId, most: limit + 1 });
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<ExecutionRow & FiguresRow>`
      select last.*, figures.* from (${page}) as page
      cross join lateral (
        select ${executionColumns} from executions where organization = ${organization} and automation_id = page.automation_id
        order by first_event_at desc, execution_id desc limit 1
      ) as last
      cross join lateral (${figuresOf(organization, sql`page.automation_id`, timesOf(window), most)}) as figures
      order by page.automation_id
    `.execute(trx);
    const items = rows.slice(0, limit).map((row) => ({
      automation: row.automation_id,
      last_execution: executionOf(row),
      window: windowFigures(row, window, most),
    }));
    const last = items.at(-1);
    const next = rows.length > limit && last !== undefined ? { automationId: last.automation } : undefined;
    return { items, next };
  });
}
