import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { Automation, AutomationPosition } from './automation.ts';
import { automationsOf } from './automations-of.ts';
import { all, when, type Condition } from './conditions.ts';
import { executionColumns, executionOf, type ExecutionRow } from './execution.ts';
import type { Window } from './filters.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs, type Reading } from './read-as.ts';
import { figuresOf, timesOf, windowFigures, type FiguresRow } from './window-figures.ts';

/** Most executions that the figures of an automation cover, and the figures of a page. */
const most = 1_000;
const mostOfPage = 3_000;

/** Most automations of a page. */
const largestPage = 50;

/**
 * Automations that have an execution or are declared, in the order of their ids, each with its last
 * execution and its figures. A page has at most 50, whatever its limit, and ends earlier once its
 * figures cover 3,000 executions.
 */
export function listAutomations(
  db: Database,
  organization: string,
  window: Window,
  { limit: asked, after }: PageRequest<AutomationPosition>,
): Promise<Page<Automation, AutomationPosition>> {
  const limit = Math.min(asked, largestPage);
  return readAs(db, organization, async (trx) => {
    const ids = await readIds(trx, organization, after, limit + 1);
    const items: Automation[] = [];
    let end = 0;
    let room = mostOfPage;
    while (end < Math.min(limit, ids.length) && room >= most) {
      const part = ids.slice(end, Math.min(limit, end + partSize(room, (mostOfPage - room) / end)));
      const rows = await readPart(trx, organization, window, part);
      items.push(...rows.map((row) => automationOf(row, window)));
      end += part.length;
      room -= rows.reduce((sum, { counted }) => sum + counted, 0);
    }
    const last = ids[end - 1];
    return { items, next: end < ids.length && last !== undefined ? { automationId: last } : undefined };
  });
}

/** Few automations at first. Then as many as fit if they have twice as many executions each. */
function partSize(room: number, average: number): number {
  return Number.isNaN(average) ? 3 : Math.min(10, Math.floor(room / (2 * average + 1)) + 1);
}

async function readIds(
  trx: Reading,
  organization: string,
  after: AutomationPosition | undefined,
  count: number,
): Promise<string[]> {
  const part = { after: after?.automationId, most: count };
  const { rows } = await sql<{ automation_id: string }>`
    select automation_id from (
      (${automationsOf(organization, part)}) union (${declaredOf(organization, part)})
    ) as automations
    order by automation_id limit ${count}
  `.execute(trx);
  return rows.map(({ automation_id }) => automation_id);
}

/** The query of an organization's declared automations, with and without executions. */
function declaredOf(organization: string, { after, most }: { after: string | undefined; most: number }): Condition {
  const following = when(after, (after) => sql`automation_id > ${after}::uuid`);
  return sql`
    select automation_id from automations where ${all([sql`organization = ${organization}`, ...following])}
    order by automation_id limit ${most}
  `;
}

/** Without an execution, its columns are null. */
type AutomationRow = FiguresRow & { id: string } & (ExecutionRow | { execution_id: null });

/** The automations with these ids, in their order. */
async function readPart(trx: Reading, organization: string, window: Window, ids: string[]): Promise<AutomationRow[]> {
  const { rows } = await sql<AutomationRow>`
    select part.automation_id as id, last.*, figures.* from unnest(${ids}::uuid[]) with ordinality as part (automation_id, number)
    left join lateral (
      select ${executionColumns} from executions where organization = ${organization} and automation_id = part.automation_id
      order by first_event_at desc, execution_id desc limit 1
    ) as last on true
    cross join lateral (${figuresOf(organization, sql`part.automation_id`, timesOf(window), most)}) as figures
    order by number
  `.execute(trx);
  return rows;
}

function automationOf(row: AutomationRow, window: Window): Automation {
  return {
    automation: row.id,
    last_execution: row.execution_id === null ? null : executionOf(row),
    window: windowFigures(row, window, most),
  };
}
