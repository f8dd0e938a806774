import { randomUUID } from 'node:crypto';
import type { Transition } from '../../../internal/expectation/transition.ts';
import type { ChannelType, QuietHours } from '../../../internal/expectation/read-channel.ts';
import type { Database } from '../../../internal/store/database.ts';

/** The automation of tests that need one. */
export const invoices = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

const declared = {
  namespace: 'acme-automations',
  name: 'nightly-invoices',
  displayName: 'Nightly invoices',
  owner: 'billing',
  links: [{ title: 'Runbook', url: 'https://wiki.acme.example/invoices' }],
  alertLabels: { severity: 'page', team: 'billing' },
};

/** Declares an automation of `acme`. */
export async function declare(
  db: Database,
  given: {
    organization?: string;
    automationId?: string;
    name?: string;
    displayName?: string;
    owner?: string;
    tags?: string[];
    expect?: object;
  } = {},
): Promise<void> {
  const { organization = 'acme', automationId = invoices, name = declared.name, owner = declared.owner } = given;
  const { expect = { schedule: '30 2 * * 1-5', timeZone: 'Europe/Madrid', maxDuration: '45m' } } = given;
  await db
    .insertInto('automations')
    .values({
      organization,
      automation_id: automationId,
      namespace: declared.namespace,
      name,
      uid: randomUUID(),
      generation: '1',
      display_name: given.displayName ?? declared.displayName,
      owner,
      tags: given.tags ?? [],
      links: JSON.stringify(declared.links),
      expect: JSON.stringify(expect),
      alert_labels: JSON.stringify(declared.alertLabels),
      suspend: false,
      declared_at: new Date(),
    })
    .execute();
}

/**
 * A channel, a webhook of `acme` unless said otherwise, for all notifications of automations unless
 * `kinds` names some.
 */
export async function declareChannel(
  db: Database,
  given: {
    organization?: string;
    url: string;
    name?: string;
    kinds?: string[];
    filter?: object;
    allowPrivate?: boolean;
    type?: ChannelType;
    to?: string[];
    quietHours?: QuietHours;
  },
): Promise<void> {
  await db
    .insertInto('channels')
    .values({
      organization: given.organization ?? 'acme',
      namespace: 'acme-automations',
      name: given.name ?? 'incidents',
      type: given.type ?? 'webhook',
      url: given.url,
      to: given.to ?? [],
      quiet_hours: given.quietHours === undefined ? null : JSON.stringify(given.quietHours),
      secret_ref: 'incidents-channel',
      kinds: given.kinds ?? [],
      filter: JSON.stringify(given.filter ?? {}),
      allow_private: given.allowPrivate ?? true,
    })
    .execute();
}

/** A change of an alert of `acme`. `told`: the channels that heard of its beginning. */
export function transition(
  change: Transition['change'],
  given: Partial<Transition['alert']> & {
    name?: string;
    owner?: string;
    tags?: string[];
    told?: readonly string[];
  } = {},
): Transition {
  const { name = declared.name, owner = declared.owner, tags = [], told = [], ...alert } = given;
  const openedAt = Date.now() - 60_000;
  return {
    change,
    alert: {
      id: randomUUID(),
      organization: 'acme',
      automationId: invoices,
      kind: 'missing',
      occurrence: '2026-11-20T01:30:00.000Z',
      reason: 'Nothing started at 02:30.',
      facts: { expected_at: '2026-11-20T01:30:00.000Z', grace_seconds: 600 },
      openedAt,
      resolvedAt: change === 'resolved' ? Date.now() : undefined,
      resolvedReason: change === 'resolved' ? 'It started at 03:30.' : undefined,
      ...alert,
    },
    automation: { ...declared, name, owner, tags },
    ...(change === 'resolved' && { toldChannels: told.map((name) => [declared.namespace, name] as const) }),
  };
}

/** Stores an alert of a change as the tick does. */
export async function storeAlert(db: Database, { alert, automation, toldChannels }: Transition): Promise<void> {
  const resolution = {
    resolved_at: alert.resolvedAt === undefined ? null : new Date(alert.resolvedAt),
    resolved_reason: alert.resolvedReason ?? null,
  };
  await db
    .insertInto('alerts')
    .values({
      id: alert.id,
      organization: alert.organization,
      automation_id: alert.automationId,
      kind: alert.kind,
      occurrence: alert.occurrence,
      reason: alert.reason,
      facts: JSON.stringify(alert.facts),
      opened_at: new Date(alert.openedAt),
      seen_at: new Date(),
      declared: JSON.stringify(automation),
      told_channels: toldChannels === undefined ? null : JSON.stringify(toldChannels),
      ...resolution,
    })
    .onConflict((conflict) => conflict.columns(['organization', 'id']).doUpdateSet(resolution))
    .execute();
}
