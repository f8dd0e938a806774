import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Registry } from '../../../internal/telemetry/metrics.ts';
import { controllerMetrics } from '../../../internal/telemetry/controller-metrics.ts';
import { createLogger } from '../../../internal/telemetry/logger.ts';
import { Ticker } from '../../../internal/verdicts/ticker.ts';
import { declare, emptyQueue } from '../../support/expectations.ts';
import { storeAlert, transition } from '../../support/notify/expectations.ts';
import { eachDatabase } from '../../support/store.ts';

const dayMs = 86_400_000;
const ids = ['1', '2', '3'].map((digit) => `0190a0b0-0000-7000-8000-00000000000${digit}`);

describe('a ticker', () => {
  const database = eachDatabase();

  /** Ticks once. Resolves with the metrics after it. */
  async function tickOnce(settings: { metricsAutomations?: number; retentionDays?: number }): Promise<string> {
    const registry = new Registry();
    const ticker = new Ticker({
      db: database.db,
      readQueue: () => Promise.resolve(emptyQueue(Date.now())),
      listeners: [],
      retentionDays: 0,
      metricsAutomations: 0,
      metrics: controllerMetrics(registry),
      logger: createLogger('test', 'silent'),
      ...settings,
    });
    await ticker.runOnce();
    return registry.metrics();
  }

  it('has gauges of automations for as many as METRICS_AUTOMATIONS says, the first by name', async () => {
    await declare(database.db, ...ids.map((automationId) => ({ automationId, expect: { every: '1h' } })));
    const seriesOf = (text: string): string[] =>
      [...text.matchAll(/^runledger_automation_verdicts\{.*automation="(.*?)".*\} (\d+)$/gm)].map(
        ([, automation, count]) => `${automation} ${count}`,
      );
    expect(seriesOf(await tickOnce({ metricsAutomations: 0 }))).to.deep.equal([]);
    expect(seriesOf(await tickOnce({ metricsAutomations: 2 }))).to.deep.equal(
      ids.slice(0, 2).map((id) => `acme-automations/${id} 1`),
    );
  });

  it('deletes alerts and deliveries so many days after their end, and none that is not over', async () => {
    const ago = (days: number): Date => new Date(Date.now() - days * dayMs);
    for (const [occurrence, resolvedAt] of [
      ['old', ago(31)],
      ['new', ago(29)],
      ['open', undefined],
    ] as const) {
      const change = resolvedAt === undefined ? 'opened' : 'resolved';
      const openedAt = ago(40).getTime();
      const alert = transition(change, { occurrence, openedAt, resolvedAt: resolvedAt?.getTime() });
      await storeAlert(database.db, alert);
    }
    const delivery = { organization: 'acme', automation_id: ids[0] ?? '', webhook_namespace: 'acme', event: '{}' };
    const ends = [
      { delivered_at: ago(31) },
      { given_up_at: ago(31) },
      { delivered_at: ago(29) },
      { given_up_at: ago(29) },
      {},
    ];
    for (const end of ends) {
      const webhook_name = Object.keys(end)[0] ?? 'waits';
      const row = { ...delivery, id: randomUUID(), webhook_name, created_at: ago(40), ...end };
      await database.db.insertInto('deliveries').values(row).execute();
    }
    const left = async (): Promise<string[]> => {
      const alerts = await database.db.selectFrom('alerts').select('occurrence').execute();
      const deliveries = await database.db.selectFrom('deliveries').select('webhook_name').execute();
      return [...alerts.map(({ occurrence }) => occurrence), ...deliveries.map((row) => row.webhook_name)].toSorted();
    };
    const all = await left();
    await tickOnce({ retentionDays: 0 });
    expect(await left()).to.deep.equal(all);
    await tickOnce({ retentionDays: 30 });
    expect(await left()).to.deep.equal(['delivered_at', 'given_up_at', 'new', 'open', 'waits']);
  });
});
