import type { Alert } from '../../../internal/record/alert.ts';
import type { Automation } from '../../../internal/record/automation.ts';
import type { Declaration } from '../../../internal/record/declaration.ts';
import type { Database } from '../../../internal/store/database.ts';

/** Declares the automation of an example of `GET /v1/automations/`, for `acme`. */
export async function storeDeclarationOf(db: Database, example: unknown): Promise<void> {
  const [item] = (example as { items: (Automation & { declaration: Declaration })[] }).items;
  if (item === undefined) throw new Error('the example has an automation');
  const { links, expect, alert_labels, verdicts, declared_at, evaluated_at, ...texts } = item.declaration;
  await db
    .insertInto('automations')
    .values({
      ...texts,
      organization: 'acme',
      automation_id: item.automation,
      uid: 'uid',
      generation: '1',
      links: JSON.stringify(links),
      expect: JSON.stringify(expect),
      alert_labels: JSON.stringify(alert_labels),
      declared_at: new Date(declared_at),
      evaluated_at: evaluated_at === null ? null : new Date(evaluated_at),
      verdict: JSON.stringify(verdicts),
    })
    .execute();
}

/** Stores the alert of an example of `GET /v1/alerts/`, for `acme`. */
export async function storeAlertOf(db: Database, example: unknown): Promise<void> {
  const [alert] = (example as { items: (Alert & { automation_name: unknown })[] }).items;
  const [notice] = alert?.notices ?? [];
  if (alert === undefined || notice === undefined) throw new Error('the example has an alert with a notice');
  const { id, kind, occurrence, reason, resolved_reason, automation, facts, opened_at } = alert;
  const openedAt = new Date(opened_at);
  await db
    .insertInto('alerts')
    .values({
      id,
      kind,
      occurrence,
      reason,
      resolved_reason,
      organization: 'acme',
      automation_id: automation,
      facts: JSON.stringify(facts),
      opened_at: openedAt,
      seen_at: openedAt,
      resolved_at: null,
    })
    .execute();
  await db
    .insertInto('alert_notices')
    .values({
      alert_id: alert.id,
      organization: 'acme',
      receiver: notice.receiver,
      first_told_at: notice.told_at === null ? null : new Date(notice.told_at),
    })
    .execute();
}
