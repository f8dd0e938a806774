import type { AlertedAutomation } from '../../expectation/transition.ts';
import type { Rules } from '../../expectation/rules.ts';
import type { Verdict } from '../../expectation/verdict.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';

/** An automation to evaluate. */
export interface DueAutomation {
  organization: string;
  automation_id: string;
  declared: AlertedAutomation;
  expect: unknown;
  suspend: boolean;
  declared_at: Date;
  rules: Rules;
  /** True if the defaults of its organization are off. */
  silent: boolean;
  evaluated_at: Date | null;
  next_at: Date | null;
  /** As the previous evaluation wrote them. */
  verdict: Verdict[] | null;
  start_before: Date | null;
  last_start: Date | null;
}

/** The key of an automation. */
export type AutomationKey = Pick<DueAutomation, 'organization' | 'automation_id'>;

/**
 * How late an event may be stored and still be noticed, in ms: for automations with a rule on
 * failures, and for events that may end an alert. The clock of ingest may be five minutes behind.
 */
const storedLaterMs = { failure: 360_000, alert: 600_000 };

/** Which automations a tick looks for; times in ms since the Unix epoch. */
export interface DueOptions {
  /** The watermark of the previous tick. */
  from: number;
  watermark: number;
  /**
   * Organizations whose record is not complete up to the watermark: none of their automations is
   * due.
   */
  held: readonly string[];
}

/**
 * The keys of the automations whose verdicts may have changed: those that are due, those with a
 * verdict or an open alert and any event since the previous watermark, and those with an ERROR
 * since then. Everything else changes at a known time.
 */
export async function listDue(
  trx: Transaction<Tables>,
  { from, watermark, held }: DueOptions,
): Promise<AutomationKey[]> {
  const { rows } = await sql<AutomationKey>`
    select organization, automation_id from (
    select organization, automation_id from automations where next_at is null or next_at <= ${new Date(watermark)}
    union
    select a.organization, a.automation_id from (
      select organization, automation_id from alerts join automations using (organization, automation_id)
      where resolved_at is null
      union select organization, automation_id from automations where verdict <> '[]'
    ) as a
    where exists (
      select from events e where e.organization = a.organization and e.automation_id = a.automation_id
        and ${isNew({ from, watermark }, storedLaterMs.alert)}
    )
    union
    select failed.organization, failed.automation_id
    from (
      select organization from known_organizations where not silent
      union select organization from automations where expect ? 'failures'
    ) as o
    cross join lateral (${newErrors({ from, watermark })}) as failed
    join automations a on (a.organization, a.automation_id) = (failed.organization, failed.automation_id)
    ) as due where organization <> all(${held}::text[])
    order by 1, 2
  `.execute(trx);
  return rows;
}

/** The automations of an organization `o` with an ERROR since the previous watermark. */
export function newErrors(times: Pick<DueOptions, 'from' | 'watermark'>) {
  return sql`
    select distinct e.organization, e.automation_id from events e
    where e.organization = o.organization and e.kind = 'ERROR' and ${isNew(times, storedLaterMs.failure)}
  `;
}

function isNew({ from, watermark }: Pick<DueOptions, 'from' | 'watermark'>, laterMs: number) {
  return sql`e.created_at > ${new Date(from - laterMs)} and e.created_at <= ${new Date(watermark)}`;
}

/** Keeps automations due that this tick did not get to. */
export async function postpone(trx: Transaction<Tables>, keys: readonly AutomationKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    update automations set next_at = null from unnest(
      ${keys.map((key) => key.organization)}::text[], ${keys.map((key) => key.automation_id)}::uuid[]
    ) as late (organization, automation_id)
    where (automations.organization, automations.automation_id) = (late.organization, late.automation_id)
      and next_at is not null
  `.execute(trx);
}

/**
 * Makes all automations of these organizations due, for the first tick that no longer holds them or
 * sets them aside.
 */
export async function makeDue(trx: Transaction<Tables>, organizations: readonly string[]): Promise<void> {
  if (organizations.length === 0) return;
  await sql`
    update automations set next_at = null where organization = any(${organizations}::text[]) and next_at is not null
  `.execute(trx);
}

/** Reads automations by their keys. */
export async function readAutomations(
  trx: Transaction<Tables>,
  keys: readonly AutomationKey[],
): Promise<DueAutomation[]> {
  const { rows } = await sql<DueAutomation>`
    select organization, automation_id, expect, suspend, declared_at, rules, evaluated_at, next_at, verdict,
      start_before, last_start,
      exists (
        select from known_organizations o where o.organization = automations.organization and o.silent
      ) as silent,
      jsonb_build_object('namespace', namespace, 'name', name, 'displayName', display_name, 'owner', owner, 'tags', tags,
        'links', links, 'alertLabels', alert_labels) as declared
    from automations join unnest(
      ${keys.map((key) => key.organization)}::text[], ${keys.map((key) => key.automation_id)}::uuid[]
    ) as due (organization, automation_id) using (organization, automation_id)
  `.execute(trx);
  return rows;
}
