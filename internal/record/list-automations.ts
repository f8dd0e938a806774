import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { Automation, AutomationPosition } from './automation.ts';
import { automationsOf } from './automations-of.ts';
import { executionColumns, executionOf, type ExecutionRow } from './execution.ts';
import type { Window } from './filters.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs } from './read-as.ts';
import { figuresOf, timesOf, windowFigures, type FiguresRow } from './window-figures.ts';

/** Most executions that the figures cover: of each automation, and of a page. */
const [mostOfEach, mostOfPage] = [1_000, 50_000];

/** Automations in the order of their ids, each with its last execution and its figures. */
export function listAutomations(
  db: Database,
  organization: string,
  window: Window,
  { limit, after }: PageRequest<AutomationPosition>,
): Promise<Page<Automation, AutomationPosition>> {
  const most = Math.min(mostOfEach, Math.floor(mostOfPage / limit));
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<ExecutionRow & FiguresRow>`
      select last.*, figures.* from (
        select automation_id as id from (${automationsOf(organization, after?.automationId)}) as automations
        limit ${limit + 1}
      ) as page
      cross join lateral (
        select ${executionColumns} from executions where organization = ${organization} and automation_id = page.id
        order by first_event_at desc, execution_id desc limit 1
      ) as last
      cross join lateral (${figuresOf(organization, sql`page.id`, timesOf(window), most)}) as figures
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
