import type { DeclaredExpectation } from '../expectation/automation.ts';
import { describeExpectation } from '../expectation/describe-expectation.ts';
import type { Alert, AlertedAutomation } from '../expectation/transition.ts';
import type { AlertsTable } from '../store/alerts-table.ts';
import type { Database } from '../store/database.ts';
import { sql, type Selectable } from '../store/sql.ts';

/** An alert that Alertmanager must know now. */
export interface ToldAlert extends Alert {
  automation: AlertedAutomation & {
    /** What is expected of the automation, for people. */
    expected: string;
  };
}

type Row = Selectable<AlertsTable> & { expect: unknown };

/** How long Alertmanager is told again that an alert is resolved. */
const repeatResolved = sql.lit('5 minutes');

/**
 * The alerts that are open, and the resolved ones that a receiver knows as open: until five minutes
 * after it knows of the end too, for a day at most. A late start is over when it is noted, so it is
 * not among them. An alert keeps the labels of its opening, so that its end is that of the same
 * alert to Alertmanager.
 */
export async function alertsToTell(db: Database): Promise<ToldAlert[]> {
  const { rows } = await sql<Row>`
    select a.*, m.expect
    from alerts a left join automations m using (organization, automation_id)
    where a.declared is not null and a.kind <> 'late' and (a.resolved_at is null or (
      a.resolved_at > now() - interval '1 day' and exists (
        select from alert_notices n where n.alert_id = a.id and n.first_told_at is not null
          and (n.resolved_told_at is null or n.resolved_told_at > now() - ${repeatResolved}::interval)
      )
    ))
    order by a.opened_at, a.id
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    organization: row.organization,
    automationId: row.automation_id,
    kind: row.kind,
    occurrence: row.occurrence,
    reason: row.reason,
    facts: row.facts as Alert['facts'],
    openedAt: row.opened_at.getTime(),
    resolvedAt: row.resolved_at?.getTime(),
    resolvedReason: row.resolved_reason ?? undefined,
    automation: {
      ...(row.declared as AlertedAutomation),
      expected: describeExpectation(row.expect as DeclaredExpectation | null).join('; '),
    },
  }));
}
