import { defaultLostAfterMs } from '../../expectation/read-expectation.ts';
import { changedRules } from '../../expectation/rules.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import { newErrors, type DueOptions } from './due-automations.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How long an automation without a declaration keeps its row when it has no verdict, in ms. */
const keptMs = dayMs;

/** How many undeclared automations a tick adds at most, from each organization in turn. */
const mostAdded = 10_000;

/**
 * Adds rows for undeclared automations that the defaults may raise an alert for: a new failure, or
 * a run that may be lost. Deletes rows without a verdict or a name a day later. Scans run once a
 * minute.
 */
export async function followUndeclared(trx: Transaction<Tables>, options: DueOptions): Promise<void> {
  const { from, watermark, held } = options;
  const isNewMinute = from === watermark || Math.floor(from / minuteMs) !== Math.floor(watermark / minuteMs);
  if (isNewMinute) await findOrganizations(trx);
  const failed = sql`
    select e.* from known_organizations o cross join lateral (${newErrors(options)}) as e
    where not o.silent and o.organization <> all(${held}::text[])
  `;
  const running = sql`
    select distinct r.organization, r.automation_id from running_executions r
    where r.lost_at is null and r.first_event_at < ${new Date(watermark - defaultLostAfterMs)}
      and r.organization <> all(${held}::text[])
  `;
  await add(trx, isNewMinute ? sql`${failed} union ${running}` : failed, watermark);
  if (!isNewMinute) return;
  await sql`
    delete from automations a where not declared and display_name = '' and verdict = '[]'
      and declared_at < ${new Date(watermark - keptMs)}
      and not exists (
        select from alerts o where o.organization = a.organization and o.automation_id = a.automation_id
          and o.resolved_at is null
      )
  `.execute(trx);
}

/** Records which organizations exist: an index leads from each to the next. */
async function findOrganizations(trx: Transaction<Tables>): Promise<void> {
  await sql`
    insert into known_organizations (organization)
    with recursive found as (
      (select organization from executions order by organization limit 1)
      union all
      select (select e.organization from executions e where e.organization > f.organization order by 1 limit 1)
      from found f where f.organization is not null
    )
    select organization from found where organization is not null
    on conflict do nothing
  `.execute(trx);
}

/** Runs lost long ago raise no alert. */
function add(trx: Transaction<Tables>, found: ReturnType<typeof sql>, watermark: number): Promise<void> {
  return insertUndeclared(
    trx,
    sql`select organization, automation_id, '' as display_name from (${found}) as f`,
    watermark,
  );
}

/**
 * Adds rows for undeclared automations, or names such rows. `found` has the columns organization,
 * automation_id and display_name. The newest failure of each counts, whenever its run started.
 * `now`: ms since the Unix epoch.
 */
export async function insertUndeclared(
  trx: Transaction<Tables>,
  found: ReturnType<typeof sql>,
  now: number,
): Promise<void> {
  const since = now - hourMs;
  const rules = changedRules(null, undefined, since);
  const failures = rules.failures && { ...rules.failures, since: 0 };
  await sql`
    insert into automations as old (organization, automation_id, namespace, name, uid, generation, display_name, owner,
      links, expect, alert_labels, suspend, rules, declared, declared_at)
    select f.organization, f.automation_id, 'undeclared', f.automation_id::text, '', 0, f.display_name, '', '[]', null,
      '{}', false, ${JSON.stringify({ ...rules, failures })}::jsonb, false, ${new Date(since)}
    from (
      select *, row_number() over (partition by organization) as turn from (${found}) as f
      where not exists (
        select from automations a where a.organization = f.organization and a.automation_id = f.automation_id
          and (a.declared or f.display_name in ('', a.display_name))
      ) and not exists (select from moved_organizations m where m.organization = f.organization and m.closed)
    ) as f
    order by turn limit ${sql.lit(mostAdded)}
    on conflict (organization, automation_id) do update set display_name = excluded.display_name
      where not old.declared and excluded.display_name <> ''
  `.execute(trx);
}
