import { randomUUID } from 'node:crypto';
import { Outbox } from '../../../internal/controller/notify/outbox.ts';
import type { Database } from '../../../internal/store/database.ts';
import { tickAt } from '../expectations.ts';
import { storeNightlyRuns } from './demo-nightly.ts';
import { declare, declareChannel } from './expectations.ts';

const hour = 3_600_000;
const timeZone = 'Europe/Madrid';
const monthly = { schedule: '0 0 31 * *' };

/** Automations of `acme` with names, which get expectations. */
export interface Expected {
  sync: string;
  scraper: string;
  mailer: string;
}

/**
 * Declares expectations of automations of the fleet, and a nightly one. Real ticks evaluate them,
 * so there are verdicts, alerts and deliveries of each kind.
 */
export async function storeDemoExpectations(db: Database, { sync, scraper, mailer }: Expected): Promise<void> {
  const now = Date.now();
  const nightly = { automationId: randomUUID(), schedule: '30 2 * * *', timeZone };
  const declaredAt = await storeNightlyRuns(db, nightly, now);
  await declare(db, {
    automationId: nightly.automationId,
    name: 'nightly-invoices',
    displayName: 'Nightly invoices',
    expect: { schedule: nightly.schedule, timeZone, grace: '10m', maxDuration: '45m', failures: { consecutive: 1 } },
  });
  await db
    .updateTable('automations')
    .set({ declared_at: new Date(declaredAt) })
    .where('name', '=', 'nightly-invoices')
    .execute();
  await tickAt(db, declaredAt);
  await declare(db, { automationId: randomUUID(), name: 'payroll', displayName: 'Payroll', expect: monthly });
  const since = { declared_at: new Date(now - 20 * hour), next_at: null };
  for (const [id, expect] of [
    [sync, { every: '2h', grace: '5m' }],
    [scraper, { maxDuration: '45m', failures: { count: 3, within: '6h' } }],
    [mailer, { schedule: '0 8 * * 1-5', timeZone }],
  ] as const) {
    await db
      .updateTable('automations')
      .set({ ...since, expect: JSON.stringify(expect) })
      .where('automation_id', '=', id)
      .execute();
  }
  await declareChannel(db, { url: 'https://incidents.acme.example/runledger' });
  await declareChannel(db, { url: 'https://chat.acme.example/hook', name: 'chat', kinds: ['automation.failing'] });
  const outbox = new Outbox(new URL('https://console.example'));
  const { report } = await tickAt(db, now, {
    listeners: [{ recordTransitions: (trx, part) => outbox.enqueueAlerts(trx, part), recordTick: async () => {} }],
  });
  if (report?.watermark === undefined) throw new Error('no tick has evaluated the demo');
  await storeTold(db, now);
}

/** Who was told: Alertmanager of each alert, one channel of all, and another one fails. */
async function storeTold(db: Database, now: number): Promise<void> {
  const ago = new Date(now - hour);
  await db
    .updateTable('deliveries')
    .set({ attempts: 1, delivered_at: ago, created_at: ago })
    .where('channel_name', '=', 'incidents')
    .execute();
  await db
    .updateTable('deliveries')
    .set({ attempts: 4, last_error: 'the receiver answered 503', created_at: ago })
    .where('channel_name', '=', 'chat')
    .execute();
  await db
    .updateTable('channels')
    .set({ failing_since: new Date(now - 3 * hour) })
    .where('name', '=', 'chat')
    .execute();
  const receiver = 'alertmanager http://alertmanager:9093';
  const alerts = await db
    .selectFrom('alerts')
    .select(['organization', 'id', 'opened_at', 'resolved_at'])
    .where('kind', '!=', 'late')
    .execute();
  for (const { organization, id, opened_at, resolved_at } of alerts) {
    const notice = { organization, receiver, alert_id: id, first_told_at: opened_at, resolved_told_at: resolved_at };
    await db.insertInto('alert_notices').values(notice).execute();
  }
}
