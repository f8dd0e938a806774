import type { Alert, AlertedAutomation, Transition } from '../../expectation/transition.ts';
import type { AlertKind, Facts } from '../../expectation/verdict.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import type { AutomationKey } from './due-automations.ts';

interface AlertRow extends AutomationKey {
  id: string;
  kind: AlertKind;
  occurrence: string;
  reason: string;
  facts: Facts;
  opened_at: Date;
  resolved_at: Date | null;
  resolved_reason: string | null;
  declared: AlertedAutomation | null;
  told_channels: [string, string][] | null;
  /** What a mute has kept back. */
  kept_back: 'opened' | 'resolved' | null;
}

const columns = sql`a.id, a.organization, a.automation_id, a.kind, a.occurrence, a.reason, a.facts, a.opened_at,
  a.resolved_at, a.resolved_reason, a.declared, a.told_channels, a.kept_back`;

/** An alert, with what was declared about its automation when it opened. */
export interface OpenedAlert {
  alert: Alert;
  declared: AlertedAutomation;
  /** True if it was over before the previous evaluation: an alert may cover its time already. */
  arrivedLate: boolean;
}

/** The open alerts of these automations. */
export async function readOpenAlerts(trx: Transaction<Tables>, keys: readonly AutomationKey[]): Promise<Alert[]> {
  const { rows } = await sql<AlertRow>`
    select ${columns} from alerts a join unnest(
      ${keys.map((key) => key.organization)}::text[], ${keys.map((key) => key.automation_id)}::uuid[]
    ) as w (organization, automation_id) using (organization, automation_id)
    where a.resolved_at is null
  `.execute(trx);
  return rows.map(alertOf);
}

/** Writes alerts. Resolves with the new ones: a resolved alert never reopens. */
export async function insertAlerts(
  trx: Transaction<Tables>,
  opened: readonly OpenedAlert[],
  watermark: number,
): Promise<Transition[]> {
  if (opened.length === 0) return [];
  const rows = opened.map(({ alert, declared }) => ({
    id: alert.id,
    organization: alert.organization,
    automation_id: alert.automationId,
    kind: alert.kind,
    occurrence: alert.occurrence,
    reason: alert.reason,
    facts: alert.facts,
    opened_at: new Date(alert.openedAt),
    seen_at: new Date(watermark),
    resolved_at: alert.resolvedAt === undefined ? null : new Date(alert.resolvedAt),
    resolved_reason: alert.resolvedReason ?? null,
    declared,
  }));
  const late = opened.filter(({ arrivedLate }) => arrivedLate).map(({ alert }) => alert.id);
  const inserted = await sql<{ id: string }>`
    insert into alerts
    select n.* from jsonb_populate_recordset(null::alerts, ${JSON.stringify(rows)}) as n
    where n.id <> all(${late}::uuid[]) or not exists (
      select from alerts a where a.organization = n.organization and a.automation_id = n.automation_id
        and a.kind = n.kind and a.occurrence = n.occurrence
        and a.opened_at < n.resolved_at and coalesce(a.resolved_at, 'infinity') > n.opened_at
    )
    on conflict do nothing returning id
  `.execute(trx);
  const ids = new Set(inserted.rows.map(({ id }) => id));
  const isNew = ({ alert }: OpenedAlert): boolean => ids.has(alert.id);
  return opened.filter(isNew).map(({ alert, declared }) => ({ change: 'opened', alert, automation: declared }));
}

/** The text of an alert. */
export type SaidOfAlert = Pick<Alert, 'id' | 'reason' | 'facts'>;

/** Updates the text of open alerts, such as how many starts are missing by now. */
export async function updateAlerts(trx: Transaction<Tables>, said: readonly SaidOfAlert[]): Promise<void> {
  if (said.length === 0) return;
  await sql`
    update alerts a set reason = w.reason, facts = w.facts::jsonb
    from unnest(
      ${said.map(({ id }) => id)}::uuid[], ${said.map(({ reason }) => reason)}::text[],
      ${said.map(({ facts }) => JSON.stringify(facts))}::text[]
    ) as w (id, reason, facts)
    where a.id = w.id and a.resolved_at is null
  `.execute(trx);
}

/** How alerts end; times in ms since the Unix epoch. */
export interface Resolution {
  id: string;
  at: number;
  reason: string;
}

/** Resolves open alerts, and returns them. */
export async function resolveAlerts(trx: Transaction<Tables>, ends: readonly Resolution[]): Promise<Transition[]> {
  if (ends.length === 0) return [];
  const { rows } = await sql<AlertRow>`
    update alerts a set resolved_at = greatest(w.at, a.opened_at), resolved_reason = w.reason
    from unnest(
      ${ends.map(({ id }) => id)}::uuid[], ${ends.map(({ at }) => new Date(at).toISOString())}::timestamptz[],
      ${ends.map(({ reason }) => reason)}::text[]
    ) as w (id, at, reason)
    where a.id = w.id and a.resolved_at is null
    returning ${columns}
  `.execute(trx);
  return rows.map(transitionOf);
}

/**
 * The open alerts of automations that are no longer declared: up to a maximum per organization. The
 * next tick finds the rest.
 */
export async function listUndeclared(
  trx: Transaction<Tables>,
  mostOfOrganization: number,
): Promise<{ id: string; organization: string }[]> {
  const { rows } = await sql<{ id: string; organization: string }>`
    select id, organization from (
      select a.id, a.organization, row_number() over (partition by a.organization order by a.id) as place
      from alerts a where a.resolved_at is null and not exists (
        select from automations d where (d.organization, d.automation_id) = (a.organization, a.automation_id)
      )
    ) as undeclared where place <= ${mostOfOrganization}
  `.execute(trx);
  return rows;
}

/** The alerts that a mute has kept back, oldest first. */
export async function listKeptBack(trx: Transaction<Tables>): Promise<(AutomationKey & { id: string })[]> {
  const { rows } = await sql<AutomationKey & { id: string }>`
    select id, organization, automation_id from alerts where kept_back is not null order by opened_at, id
  `.execute(trx);
  return rows;
}

/** Notes what a mute keeps back of these alerts, or null for nothing. */
export async function keepBack(
  trx: Transaction<Tables>,
  ids: readonly string[],
  what: AlertRow['kept_back'],
): Promise<void> {
  if (ids.length > 0) await sql`update alerts set kept_back = ${what} where id = any(${ids}::uuid[])`.execute(trx);
}

/** Resolves with the last changes of alerts that were kept back, which may be told now. */
export async function release(trx: Transaction<Tables>, ids: readonly string[]): Promise<Transition[]> {
  const { rows } = await sql<AlertRow>`
    update alerts a set kept_back = null where id = any(${ids}::uuid[]) returning ${columns}
  `.execute(trx);
  return rows.map(transitionOf);
}

/** The last change of an alert. */
function transitionOf(row: AlertRow): Transition {
  return {
    change: row.resolved_at === null ? 'opened' : 'resolved',
    alert: alertOf(row),
    automation: row.declared ?? undefined,
    toldChannels: row.told_channels ?? [],
    isUntold: row.kept_back === 'opened',
  };
}

function alertOf(row: AlertRow): Alert {
  const { id, organization, kind, occurrence, reason, facts } = row;
  return {
    id,
    organization,
    automationId: row.automation_id,
    kind,
    occurrence,
    reason,
    facts,
    openedAt: row.opened_at.getTime(),
    resolvedAt: row.resolved_at?.getTime(),
    resolvedReason: row.resolved_reason ?? undefined,
  };
}
