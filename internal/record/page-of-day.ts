import type { Database } from '../store/database.ts';
import { dayAfter } from '../store/partitions/days.ts';
import { sql } from '../store/sql.ts';
import { automationsOf } from './automations-of.ts';
import { all, time, when } from './conditions.ts';
import { fitting, isCut, mostBytes, type Fitting } from './page-bytes.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs, type Reading } from './read-as.ts';
import { eventColumns, provenEventOf, type EventRow, type ProvenEvent } from './stored-event.ts';

/** Where a page of a day ends, in the order of an archive. */
export interface DayPosition {
  automationId: string;
  executionId: string;
  createdAt: string;
  id: string;
}

/**
 * The events of a day that Postgres has, by automation, execution and time, as the archive keeps
 * them. An index gives the executions of an automation in order; only the events of each are
 * sorted.
 */
export function pageOfDay(
  db: Database,
  organization: string,
  day: number,
  { limit, after }: PageRequest<DayPosition>,
): Promise<Page<ProvenEvent, DayPosition>> {
  return readAs(db, organization, async (trx) => {
    const items: ProvenEvent[] = [];
    let bytes = 0;
    let automationId = after?.automationId ?? (await automationAfter(trx, organization, undefined));
    for (let from = after; automationId !== undefined; from = undefined) {
      const wanted = { automationId, day, from, limit: limit - items.length, most: mostBytes - bytes };
      const rows = await readRows(trx, organization, wanted);
      const last = rows.at(-1);
      items.push(...rows.map(provenEventOf));
      bytes += last?.bytes ?? 0;
      const isFull = items.length >= limit || bytes >= mostBytes || isCut(rows);
      if (isFull && last !== undefined) return { items, next: positionOf(last) };
      automationId = await automationAfter(trx, organization, automationId);
    }
    return { items };
  });
}

async function automationAfter(
  trx: Reading,
  organization: string,
  after: string | undefined,
): Promise<string | undefined> {
  const next = sql<{
    automation_id: string;
  }>`${automationsOf(organization, { after, most: 1 })} order by automation_id`;
  return (await next.execute(trx)).rows[0]?.automation_id;
}

interface Wanted {
  automationId: string;
  day: number;
  from: DayPosition | undefined;
  limit: number;
  most: number;
}

async function readRows(
  trx: Reading,
  organization: string,
  { automationId, day, from, limit, most }: Wanted,
): Promise<(EventRow & Fitting)[]> {
  const conditions = [
    sql`organization = ${organization} and automation_id = ${automationId}::uuid`,
    sql`created_at >= ${time(new Date(day))} and created_at < ${time(new Date(dayAfter(day)))}`,
    // The first comparison bounds the entries of the index, which a comparison of rows would not.
    ...when(
      from,
      ({ executionId, createdAt, id }) => sql`execution_id >= ${executionId}
        and (execution_id, created_at, id) > (${executionId}, ${time(createdAt)}, ${id}::uuid)`,
    ),
  ];
  const { rows } = await sql<EventRow & Fitting>`
    ${fitting(
      sql`
      select *, (row_number() over ())::integer as number from (
        select ${eventColumns} from events where ${all(conditions)} order by execution_id, created_at, id limit ${limit}
      ) as events
    `,
      most,
    )}
  `.execute(trx);
  return rows;
}

function positionOf(row: EventRow): DayPosition {
  return {
    automationId: row.automation_id,
    executionId: row.execution_id,
    createdAt: row.created_at.toISOString(),
    id: row.id,
  };
}
