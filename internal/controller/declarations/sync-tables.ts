import { changedRules, type Rules } from '../../expectation/rules.ts';
import type { Failed, Turns } from '../../store/apart.ts';
import { slices } from '../../store/partitions/slices.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import type { DeclaredAutomation, DeclaredChannel } from './declarations.ts';
import { identityOf } from './health.ts';

/** Number of rows read or written at once, which bounds the memory of a tick. */
const sliceSize = 1_000;

interface Known {
  organization: string;
  automation_id: string;
  namespace: string;
  name: string;
  uid: string;
  generation: string;
  note: string | null;
}

/**
 * Makes the table `automations` equal to the declarations. Rules whose meaning changed hold from
 * `now` on. Resolves with the declarations that Postgres refuses.
 */
export async function syncAutomations(
  trx: Transaction<Tables>,
  automations: readonly DeclaredAutomation[],
  now: Date,
  turns: Turns,
): Promise<Failed<DeclaredAutomation>[]> {
  const changed = new Map(automations.map((automation) => [identityOf(automation), automation]));
  const gone: Known[] = [];
  for await (const row of knownAutomations(trx)) {
    const declared = changed.get(keyOfRow(row));
    if (declared === undefined) gone.push(row);
    else if (!differs(declared, row)) changed.delete(keyOfRow(row));
  }
  const refused: Failed<DeclaredAutomation>[] = [];
  for (const part of slices([...changed.values()], sliceSize)) {
    refused.push(...(await turns.runEach(trx, part, (some) => upsertAutomations(trx, some, now))));
  }
  for (const part of slices(gone, sliceSize)) await deleteAutomations(trx, part);
  return refused;
}

/** Reads the table in pages: all rows at once would take 10 MB in each tick. */
async function* knownAutomations(trx: Transaction<Tables>): AsyncGenerator<Known> {
  const columns = ['organization', 'automation_id', 'namespace', 'name', 'uid', 'generation', 'note'] as const;
  const page = trx
    .selectFrom('automations')
    .select(columns)
    .where('declared', '=', true)
    .orderBy('organization')
    .orderBy('automation_id')
    .limit(sliceSize);
  let rows = await page.execute();
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    yield* rows;
    if (rows.length < sliceSize) return;
    const after = sql<boolean>`(organization, automation_id) > (${last.organization}, ${last.automation_id}::uuid)`;
    rows = await page.where(after).execute();
  }
}

async function deleteAutomations(trx: Transaction<Tables>, gone: readonly Known[]): Promise<void> {
  await sql`
    delete from automations using unnest(
      ${gone.map(({ organization }) => organization)}::text[], ${gone.map((row) => row.automation_id)}::uuid[]
    ) as gone (organization, automation_id)
    where automations.organization = gone.organization and automations.automation_id = gone.automation_id
  `.execute(trx);
}

function keyOfRow({ organization, automation_id: automationId }: Known): string {
  return identityOf({ organization, automationId });
}

function differs({ namespace, name, uid, generation, note }: DeclaredAutomation, known: Known | undefined): boolean {
  if (known === undefined) return true;
  if (known.uid !== uid || known.namespace !== namespace || known.name !== name) return true;
  return known.generation !== String(generation) || known.note !== (note ?? null);
}

/** Sends the rows as one JSON value: separate parameters would exceed the limit of Postgres. */
async function upsertAutomations(
  trx: Transaction<Tables>,
  automations: readonly DeclaredAutomation[],
  now: Date,
): Promise<void> {
  const before = await readRules(trx, automations);
  const rows = automations.map((automation) => ({
    organization: automation.organization,
    automation_id: automation.automationId,
    namespace: automation.namespace,
    name: automation.name,
    uid: automation.uid,
    generation: automation.generation,
    display_name: automation.displayName,
    owner: automation.owner,
    tags: automation.tags,
    links: automation.links,
    expect: automation.expect ?? null,
    alert_labels: automation.alertLabels,
    suspend: automation.suspend,
    rules: rulesOf(automation, before.get(identityOf(automation)), now),
    note: automation.note ?? null,
  }));
  await sql`
    insert into automations as old (organization, automation_id, namespace, name, uid, generation, display_name, owner,
      tags, links, expect, alert_labels, suspend, rules, note, declared_at)
    select organization, automation_id, namespace, name, uid, generation, display_name, owner, tags, links,
      nullif(expect, 'null'::jsonb), alert_labels, suspend, rules, note, ${now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (organization text, automation_id uuid,
      namespace text, name text, uid text, generation bigint, display_name text, owner text, tags text[], links jsonb,
      expect jsonb, alert_labels jsonb, suspend boolean, rules jsonb, note text)
    on conflict (organization, automation_id) do update set
      namespace = excluded.namespace, name = excluded.name, uid = excluded.uid, generation = excluded.generation,
      display_name = excluded.display_name, owner = excluded.owner, tags = excluded.tags, links = excluded.links,
      expect = excluded.expect, declared = true, alert_labels = excluded.alert_labels, suspend = excluded.suspend, rules = excluded.rules, note = excluded.note,
      declared_at = case when (old.rules, old.suspend) is distinct from (excluded.rules, excluded.suspend)
        then excluded.declared_at else old.declared_at end,
      next_at = null
  `.execute(trx);
}

interface KnownRules {
  suspend: boolean;
  rules: Rules;
}

async function readRules(
  trx: Transaction<Tables>,
  automations: readonly DeclaredAutomation[],
): Promise<Map<string, KnownRules>> {
  const { rows } = await sql<KnownRules & Pick<Known, 'organization' | 'automation_id'>>`
    select organization, automation_id, suspend, rules from automations join unnest(
      ${automations.map(({ organization }) => organization)}::text[],
      ${automations.map(({ automationId }) => automationId)}::uuid[]
    ) as changed (organization, automation_id) using (organization, automation_id)
  `.execute(trx);
  return new Map(
    rows.map(({ organization, automation_id: automationId, ...known }) => [
      identityOf({ organization, automationId }),
      known,
    ]),
  );
}

/** After a suspension, every rule begins again. */
function rulesOf({ expect, suspend }: DeclaredAutomation, known: KnownRules | undefined, now: Date): Rules {
  return changedRules(expect, known?.suspend === suspend ? known.rules : undefined, now.getTime());
}

/** Records which organizations have no defaults. Their automations are evaluated again. */
export async function syncSilent(trx: Transaction<Tables>, silent: readonly string[]): Promise<void> {
  await sql`
    with changed as (
      insert into known_organizations as old (organization, silent)
      select organization, true from unnest(${silent}::text[]) as organization group by 1
      on conflict (organization) do update set silent = true where not old.silent
      returning organization
    ), loud as (
      update known_organizations set silent = false where silent and organization <> all(${silent}::text[])
      returning organization
    )
    update automations set next_at = null
    where organization in (select organization from changed union select organization from loud)
  `.execute(trx);
}

/**
 * Makes the table `channels` equal to the declarations. Resolves with those that Postgres refuses.
 */
export async function syncChannels(
  trx: Transaction<Tables>,
  channels: readonly DeclaredChannel[],
  turns: Turns,
): Promise<Failed<DeclaredChannel>[]> {
  await sql`
    delete from channels where (organization, namespace, name) not in (
      select * from unnest(
        ${channels.map(({ organization }) => organization)}::text[],
        ${channels.map(({ namespace }) => namespace)}::text[], ${channels.map(({ name }) => name)}::text[]
      )
    )
  `.execute(trx);
  const refused: Failed<DeclaredChannel>[] = [];
  for (const part of slices(channels, sliceSize)) {
    refused.push(...(await turns.runEach(trx, part, (some) => upsertChannels(trx, some))));
  }
  return refused;
}

const sameReceiver = sql`(old.url, old."to", old.secret_ref) is not distinct from
  (excluded.url, excluded."to", excluded.secret_ref)`;

async function upsertChannels(trx: Transaction<Tables>, channels: readonly DeclaredChannel[]): Promise<void> {
  const rows = channels.map(({ secretRef, quietHours, ...channel }) => ({
    ...channel,
    secret_ref: secretRef,
    quiet_hours: quietHours,
  }));
  // CHANNEL_ALLOW_PRIVATE applies to all of them. A changed address is tried immediately.
  await sql`
    insert into channels as old (organization, namespace, name, type, url, "to", secret_ref, kinds, filter, quiet_hours,
      allow_private)
    select organization, namespace, name, type, url, "to", secret_ref, kinds, filter, nullif(quiet_hours, 'null'), true
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (organization text, namespace text,
      name text, type text, url text, "to" text[], secret_ref text, kinds text[], filter jsonb, quiet_hours jsonb)
    on conflict (organization, namespace, name) do update set
      type = excluded.type, url = excluded.url, "to" = excluded."to", quiet_hours = excluded.quiet_hours, secret_ref = excluded.secret_ref, kinds = excluded.kinds, filter = excluded.filter,
      failing_since = case when ${sameReceiver} then old.failing_since end,
      open_until = case when ${sameReceiver} then old.open_until end
    where (old.type, old.url, old."to", old.secret_ref, old.kinds, old.filter, old.quiet_hours) is distinct from
      (excluded.type, excluded.url, excluded."to", excluded.secret_ref, excluded.kinds, excluded.filter, excluded.quiet_hours)
  `.execute(trx);
}
