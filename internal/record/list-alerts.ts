import type { MacKey } from '../ledger/mac.ts';
import type { AlertNoticesTable, AlertsTable } from '../store/tables/alerts-table.ts';
import type { Database } from '../store/database.ts';
import { sql, type Selectable } from '../store/sql.ts';
import type { Alert, AlertFilters, AlertPosition, Notice } from './alert.ts';
import { readAcknowledged, type Acknowledgement } from './acts.ts';
import { all, time, when, whenAnyOf } from './conditions.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs } from './read-as.ts';

/** A notice in the JSON of Postgres: its times are texts. */
type NoticeRow = Pick<AlertNoticesTable, 'receiver' | 'last_error'> & {
  first_told_at: string | null;
  resolved_told_at: string | null;
};

type Row = Selectable<AlertsTable> & { notices: NoticeRow[] };

/** Alerts, last opened first. */
export function listAlerts(
  db: Database,
  actKeys: readonly MacKey[],
  organization: string,
  { id: only, automationId, automationIds, kind, open }: AlertFilters,
  { limit, after }: PageRequest<AlertPosition>,
): Promise<Page<Alert, AlertPosition>> {
  const conditions = all([
    sql`organization = ${organization}`,
    ...when(only, (id) => sql`id = ${id}::uuid`),
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...whenAnyOf(automationIds),
    ...when(kind, (wanted) => sql`kind = ${wanted}`),
    ...when(open, (wanted) => (wanted ? sql`resolved_at is null` : sql`resolved_at is not null`)),
    ...when(after, ({ openedAt, id }) => sql`(opened_at, id) < (${time(openedAt)}, ${id}::uuid)`),
  ]);
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<Row>`
      select page.*, coalesce((
        select json_agg(n order by receiver) from alert_notices n
        where n.alert_id = page.id and n.organization = ${organization}
      ), '[]') as notices
      from (select * from alerts where ${conditions} order by opened_at desc, id desc limit ${limit + 1}) as page
      order by opened_at desc, id desc
    `.execute(trx);
    const ids = rows.map(({ id }) => id);
    const acknowledged = await readAcknowledged(trx, actKeys, organization, ids);
    const items = rows.slice(0, limit).map((row) => alertOf(row, acknowledged.get(row.id)));
    const last = items.at(-1);
    const next = rows.length > limit && last !== undefined ? { openedAt: last.opened_at, id: last.id } : undefined;
    return { items, next };
  });
}

function alertOf(row: Row, acknowledged: Acknowledgement | undefined): Alert {
  return {
    id: row.id,
    automation: row.automation_id,
    kind: row.kind,
    occurrence: row.occurrence,
    reason: row.reason,
    facts: row.facts as Alert['facts'],
    opened_at: row.opened_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
    resolved_reason: row.resolved_reason,
    acknowledged: acknowledged ?? null,
    notices: row.notices.map(noticeOf),
  };
}

function noticeOf({ receiver, first_told_at, resolved_told_at, last_error }: NoticeRow): Notice {
  return { receiver, told_at: isoOf(first_told_at), resolved_told_at: isoOf(resolved_told_at), error: last_error };
}

function isoOf(text: string | null): string | null {
  return text === null ? null : new Date(text).toISOString();
}
