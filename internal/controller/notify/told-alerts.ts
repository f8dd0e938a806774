import type { DeclaredExpectation } from '../../expectation/automation.ts';
import { describeExpectation } from '../../expectation/describe-expectation.ts';
import type { Alert, AlertedAutomation } from '../../expectation/transition.ts';
import type { AlertsTable } from '../../store/tables/alerts-table.ts';
import type { AutomationsTable } from '../../store/tables/automations-table.ts';
import type { Database } from '../../store/database.ts';
import { sql, type Selectable } from '../../store/sql.ts';
import { runsOfAlerts, type AlertRun } from './alert-runs.ts';
import { declaredOf } from './declared-of.ts';

/** The labels of an alert, which are its identity in Alertmanager. */
export type Labels = Readonly<Record<string, string>>;

/** An alert that an Alertmanager must have open now, or must be told the end of. */
export interface ToldAlert extends Alert {
  /** As declared now, or when the alert opened; undefined if it never was. */
  automation:
    | (AlertedAutomation & {
        /** The automation's expectations in words. */
        expected: string;
      })
    | undefined;
  run: AlertRun | undefined;
  /** The sets of labels under which the Alertmanager may have it open. */
  knownAs: readonly Labels[];
}

type Row = Selectable<AlertsTable> & { known_as: Labels[] | null } & (
    Omit<Selectable<AutomationsTable>, keyof AlertsTable> | { name: null; expect: unknown }
  );

/**
 * The open alerts, and those that this receiver may still have open. A late start is over when it
 * is recorded, so it is not included.
 */
export async function alertsToTell(db: Database, receiver: string): Promise<ToldAlert[]> {
  const { rows } = await sql<Row>`
    select a.*, m.namespace, m.name, m.display_name, m.owner, m.tags, m.links, m.alert_labels, m.expect, n.known_as
    from (
      select id from alerts where resolved_at is null and kind <> 'late' and kept_back is null
      union
      select alert_id from alert_notices where receiver = ${receiver} and known_as <> '[]'
    ) as told join alerts a on a.id = told.id and a.kept_back is null
      left join automations m using (organization, automation_id)
      left join alert_notices n on (n.organization, n.alert_id, n.receiver) = (a.organization, a.id, ${receiver})
    order by a.opened_at, a.id
  `.execute(db);
  const alerts = rows.map(alertOf);
  const runs = await runsOfAlerts(db, alerts);
  return alerts.map((alert) => ({ ...alert, run: runs.get(alert.id) }));
}

function alertOf(row: Row): Omit<ToldAlert, 'run'> {
  const expected = describeExpectation(row.expect as DeclaredExpectation | null).join('; ');
  const atOpening = (row.declared as AlertedAutomation | null) ?? undefined;
  const declared = row.name === null ? atOpening : declaredOf(row);
  return {
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
    automation: declared && { ...declared, expected },
    knownAs: row.known_as ?? [],
  };
}
