import { randomUUID } from 'node:crypto';
import { Schedule } from '../../../internal/expectation/schedule.ts';
import { Zone } from '../../../internal/expectation/zone.ts';
import type { Verdict } from '../../../internal/expectation/verdict.ts';
import { Outbox } from '../../../internal/notify/outbox.ts';
import type { Database } from '../../../internal/store/database.ts';
import { declare, declareWebhook, storeAlert, transition } from './expectations.ts';

const hour = 3_600_000;

/** Declares automations of the demo record, with verdicts, alerts and deliveries of each kind. */
export async function storeDemoExpectations(db: Database): Promise<void> {
  const rows = await db.selectFrom('executions').select('automation_id').distinct().orderBy('automation_id').execute();
  const ids = rows.map(({ automation_id }) => automation_id);
  const [first = randomUUID(), second = randomUUID(), third = randomUUID(), fourth = randomUUID()] = ids;
  const schedule = { schedule: '15 */3 * * *', timeZone: 'Europe/Madrid', grace: '10m', maxDuration: '45m' };
  await declare(db, {
    automationId: first,
    name: 'nightly-invoices',
    displayName: 'Nightly invoices',
    expect: { ...schedule, failures: { consecutive: 1 } },
  });
  await declare(db, {
    automationId: second,
    name: 'crm-sync',
    displayName: 'CRM sync',
    expect: { every: '1h', grace: '5m' },
  });
  await declare(db, {
    automationId: third,
    name: 'legacy-scraper',
    displayName: 'Legacy scraper',
    expect: { maxDuration: '45m', failures: { count: 3, within: '6h' } },
  });
  await declare(db, {
    automationId: fourth,
    name: 'report-mailer',
    displayName: 'Report mailer',
    expect: { schedule: '0 8 * * 1-5', timeZone: 'Europe/Madrid' },
  });
  await declare(db, {
    automationId: randomUUID(),
    name: 'payroll',
    displayName: 'Payroll',
    expect: { schedule: '0 0 31 * *' },
  });
  await declareWebhook(db, { url: 'https://incidents.acme.example/runledger' });
  await declareWebhook(db, { url: 'https://chat.acme.example/hook', name: 'chat', kinds: ['automation.failing'] });
  const now = Date.now();
  const missed = new Schedule(schedule.schedule, new Zone(schedule.timeZone)).upTo(now - hour) ?? now;
  const reason = {
    missing: 'Expected by 02:25 in Europe/Madrid; nothing started.',
    failing: 'The last 3 runs failed.',
  };
  const changes = [
    transition('opened', {
      automationId: first,
      kind: 'missing',
      reason: reason.missing,
      openedAt: missed + 600_000,
      occurrence: new Date(missed).toISOString(),
    }),
    transition('opened', {
      automationId: third,
      kind: 'overrunning',
      reason: 'Run 17 takes longer than 45 min.',
      openedAt: now - hour,
    }),
    transition('opened', { automationId: third, kind: 'failing', reason: reason.failing, openedAt: now - 3 * hour }),
    transition('resolved', {
      automationId: second,
      kind: 'missing',
      reason: reason.missing,
      openedAt: now - 9 * hour,
      resolvedAt: now - 8 * hour,
    }),
    transition('opened', {
      automationId: second,
      kind: 'late',
      reason: 'It started 12 min late.',
      openedAt: now - 8 * hour,
      resolvedAt: now - 8 * hour,
    }),
  ];
  for (const change of changes) await storeAlert(db, change);
  const outbox = new Outbox(new URL('https://console.example'));
  await db.transaction().execute(async (trx) => {
    await outbox.enqueueAlerts(trx, changes);
    await outbox.enqueueExecutions(trx, now);
  });
  await db
    .updateTable('deliveries')
    .set({ attempts: 1, delivered_at: new Date(now - hour) })
    .where('webhook_name', '=', 'incidents')
    .execute();
  await db
    .updateTable('deliveries')
    .set({ attempts: 4, last_error: 'the receiver answered 503' })
    .where('webhook_name', '=', 'chat')
    .execute();
  await db
    .updateTable('webhooks')
    .set({ failing_since: new Date(now - 3 * hour) })
    .where('name', '=', 'chat')
    .execute();
  const told = { receiver: 'alertmanager http://alertmanager:9093', first_told_at: new Date(now - hour) };
  for (const { alert } of changes.slice(0, 4)) {
    await db
      .insertInto('alert_notices')
      .values({ alert_id: alert.id, organization: 'acme', ...told })
      .execute();
  }
  const verdictsOf = (automationId: string): Verdict[] =>
    changes
      .filter(({ alert }) => alert.automationId === automationId && alert.resolvedAt === undefined)
      .map(({ alert: { kind, occurrence, reason: why, facts, openedAt } }) => ({
        kind,
        occurrence,
        reason: why,
        facts,
        since: new Date(openedAt).toISOString(),
      }));
  for (const id of [first, second, third, fourth]) {
    const verdict = JSON.stringify(verdictsOf(id));
    const judged = { verdict, evaluated_at: new Date(), declared_at: new Date(now - 20 * 24 * hour) };
    await db.updateTable('automations').set(judged).where('automation_id', '=', id).execute();
  }
}
