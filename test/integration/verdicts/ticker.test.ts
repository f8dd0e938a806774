import { expect } from 'chai';
import { together } from '../../../internal/store/apart.ts';
import type { Database } from '../../../internal/store/database.ts';
import { sql } from '../../../internal/store/sql.ts';
import { Registry } from '../../../internal/kit/telemetry/metrics.ts';
import { controllerMetrics } from '../../../internal/controller/verdicts/controller-metrics.ts';
import { createLogger } from '../../../internal/kit/telemetry/logger.ts';
import { Ticker } from '../../../internal/controller/verdicts/ticker.ts';
import { declare, emptyQueue } from '../../support/expectations.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { eachDatabase, migratedDatabase } from '../../support/store.ts';

const ids = ['1', '2', '3'].map((digit) => `0190a0b0-0000-7000-8000-00000000000${digit}`);

describe('a ticker', () => {
  const database = eachDatabase();

  /** Ticks once. Resolves with the metrics after it. */
  async function tickOnce(settings: { metricsAutomations?: number; db?: Database }): Promise<string> {
    const registry = new Registry();
    const ticker = new Ticker({
      db: database.db,
      readQueue: () => Promise.resolve(emptyQueue(Date.now())),
      listeners: [],
      metricsAutomations: 0,
      metrics: controllerMetrics(registry),
      logger: createLogger('test', 'silent'),
      ...settings,
    });
    await ticker.runOnce();
    return registry.metrics();
  }

  /** Two automations whose runs are missing, in two organizations. Returns the last watermark. */
  async function declareBoth(db: Database): Promise<number> {
    const declaredAt = Date.now() - 600_000;
    const expectation = { schedule: '* * * * *', grace: '0s' };
    const [hostile = '', quiet = ''] = ids;
    await declare(
      db,
      { organization: 'hostile', automationId: hostile, expect: expectation, declaredAt },
      { organization: 'quiet', automationId: quiet, expect: expectation, declaredAt },
    );
    await db
      .updateTable('controller_state')
      .set({ watermark: new Date(declaredAt), watermark_at: new Date() })
      .execute();
    return declaredAt;
  }

  /** The organizations with alerts about missing runs. */
  async function missing(db: Database): Promise<string[]> {
    const alerts = await db.selectFrom('alerts').select('organization').where('kind', '=', 'missing').execute();
    return alerts.map(({ organization }) => organization);
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

  it('sets aside an organization whose data Postgres refuses, and continues with the others', async () => {
    const { db } = database;
    const declaredAt = await declareBoth(db);
    await sql`alter table alerts add constraint refused check (organization <> 'hostile')`.execute(db);
    const { logger, records } = recordingLogger();
    const registry = new Registry();
    const told: string[] = [];
    let stored: readonly string[] = [];
    const ticker = new Ticker({
      db,
      readQueue: () => Promise.resolve(emptyQueue(Date.now())),
      listeners: [
        {
          recordTransitions: async (_, part) => void told.push(...part.map(({ alert }) => alert.organization)),
          recordTick: async (trx, _watermark, _held, turns = together) => {
            const items = ['hostile', 'quiet', 'third'].map((organization) => ({ organization }));
            const parts = await turns.run(trx, items, async (part) => part.map(({ organization }) => organization));
            stored = parts.flat();
          },
          announce: async () => undefined,
        },
      ],
      metricsAutomations: 0,
      metrics: controllerMetrics(registry),
      againMs: 0,
      logger,
    });
    await ticker.runOnce();
    expect(ticker.problem).to.equal(undefined);
    expect(await missing(db))
      .to.include('quiet')
      .and.not.to.include('hostile');
    expect(told.filter((organization) => organization === 'quiet')).not.to.deep.equal([]);
    expect(stored, 'the rest of the tick').to.deep.equal(['quiet', 'third']);
    const named = records.filter(({ message }) => message === 'organization set aside, its verdicts wait');
    expect(named.map(({ fields }) => fields['organization'])).to.deep.equal(['hostile']);
    expect(await registry.metrics()).to.match(/^runledger_organizations_set_aside 1$/m);

    await sql`alter table alerts drop constraint refused`.execute(db);
    await db
      .updateTable('controller_state')
      .set({ watermark: new Date(declaredAt) })
      .execute();
    await ticker.runOnce();
    expect(await missing(db)).to.include('hostile');
    expect(await registry.metrics()).to.match(/^runledger_organizations_set_aside 0$/m);
  });

  it('sets aside an organization whose statements are slow, and continues with the others', async () => {
    await using slow = await migratedDatabase({ statementTimeout: 7_500 });
    await declareBoth(slow.db);
    await sql`
      create function sleep() returns trigger language plpgsql as $$ begin
        if new.organization = 'hostile' then perform pg_sleep(60); end if;
        return new;
      end $$
    `.execute(slow.db);
    await sql`create trigger slow before insert on alerts for each row execute function sleep()`.execute(slow.db);
    expect(await tickOnce({ db: slow.db })).to.match(/^runledger_organizations_set_aside 1$/m);
    expect(await missing(slow.db))
      .to.include('quiet')
      .and.not.to.include('hostile');
  });
});
