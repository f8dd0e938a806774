import type { Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';
import type { Declarations, DeclaredAutomation, DeclaredWebhook } from './declarations.ts';
import { identityOf } from './health.ts';

/**
 * Makes the tables `automations` and `webhooks` equal to the declarations. Changed expectations
 * hold from `now` on. The replica that holds the turn calls it in the transaction of its tick.
 */
export async function syncDeclarations(
  trx: Transaction<Tables>,
  { automations, webhooks }: Declarations,
  now: Date,
): Promise<void> {
  await syncAutomations(trx, automations, now);
  await syncWebhooks(trx, webhooks);
}

interface Known {
  organization: string;
  automation_id: string;
  namespace: string;
  name: string;
  uid: string;
  generation: string;
}

async function syncAutomations(
  trx: Transaction<Tables>,
  automations: readonly DeclaredAutomation[],
  now: Date,
): Promise<void> {
  const columns = ['organization', 'automation_id', 'namespace', 'name', 'uid', 'generation'] as const;
  const rows = await trx.selectFrom('automations').select(columns).execute();
  const known = new Map(rows.map((row) => [keyOfRow(row), row]));
  const changed = automations.filter((automation) => differs(automation, known.get(identityOf(automation))));
  if (changed.length > 0) await upsertAutomations(trx, changed, now);

  const declared = new Set(automations.map(identityOf));
  const gone = rows.filter((row) => !declared.has(keyOfRow(row)));
  if (gone.length === 0) return;
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

function differs({ namespace, name, uid, generation }: DeclaredAutomation, known: Known | undefined): boolean {
  if (known === undefined) return true;
  if (known.uid !== uid || known.namespace !== namespace || known.name !== name) return true;
  return known.generation !== String(generation);
}

/** It sends the rows as one JSON: any number of parameters would pass the limit of Postgres. */
async function upsertAutomations(
  trx: Transaction<Tables>,
  automations: readonly DeclaredAutomation[],
  now: Date,
): Promise<void> {
  const rows = automations.map((automation) => ({
    organization: automation.organization,
    automation_id: automation.automationId,
    namespace: automation.namespace,
    name: automation.name,
    uid: automation.uid,
    generation: automation.generation,
    display_name: automation.displayName,
    owner: automation.owner,
    links: automation.links,
    expect: automation.expect ?? null,
    alert_labels: automation.alertLabels,
    suspend: automation.suspend,
  }));
  await sql`
    insert into automations as old (organization, automation_id, namespace, name, uid, generation, display_name, owner,
      links, expect, alert_labels, suspend, declared_at)
    select organization, automation_id, namespace, name, uid, generation, display_name, owner, links,
      nullif(expect, 'null'::jsonb), alert_labels, suspend, ${now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (organization text, automation_id uuid,
      namespace text, name text, uid text, generation bigint, display_name text, owner text, links jsonb, expect jsonb,
      alert_labels jsonb, suspend boolean)
    on conflict (organization, automation_id) do update set
      namespace = excluded.namespace, name = excluded.name, uid = excluded.uid, generation = excluded.generation,
      display_name = excluded.display_name, owner = excluded.owner, links = excluded.links, expect = excluded.expect,
      alert_labels = excluded.alert_labels, suspend = excluded.suspend,
      declared_at = case when (old.expect, old.suspend) is distinct from (excluded.expect, excluded.suspend)
        then excluded.declared_at else old.declared_at end,
      next_at = null
  `.execute(trx);
}

async function syncWebhooks(trx: Transaction<Tables>, webhooks: readonly DeclaredWebhook[]): Promise<void> {
  const rows = webhooks.map(({ secretRef, ...webhook }) => ({ ...webhook, secret_ref: secretRef }));
  const declared = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (organization text, namespace text,
    name text, url text, secret_ref text, kinds text[], filter jsonb)`;
  await sql`
    delete from webhooks where not exists (
      select from ${declared} where (new.organization, new.namespace, new.name)
        = (webhooks.organization, webhooks.namespace, webhooks.name)
    )
  `.execute(trx);
  // The setting WEBHOOK_ALLOW_PRIVATE decides for all of them. Another address is tried at once.
  await sql`
    insert into webhooks as old (organization, namespace, name, url, secret_ref, kinds, filter, allow_private)
    select organization, namespace, name, url, secret_ref, kinds, filter, true from ${declared}
    on conflict (organization, namespace, name) do update set
      url = excluded.url, secret_ref = excluded.secret_ref, kinds = excluded.kinds, filter = excluded.filter,
      failing_since = case when old.url = excluded.url then old.failing_since end,
      open_until = case when old.url = excluded.url then old.open_until end
    where (old.url, old.secret_ref, old.kinds, old.filter)
      is distinct from (excluded.url, excluded.secret_ref, excluded.kinds, excluded.filter)
  `.execute(trx);
}
