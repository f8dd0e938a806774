import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ApiClient } from '../support/api-client.ts';
import { audit } from '../support/fault/audit.ts';
import { clocksCanStep } from '../support/fault/clock.ts';
import { Load } from '../support/fault/load.ts';
import { seedOfRun } from '../support/fault/random.ts';
import { organization, System, token } from '../support/fault/system.ts';
import { Timeline } from '../support/fault/timeline.ts';
import { until } from '../support/until.ts';

const day = 86_400;

describe('days', () => {
  let system: System;

  before(async function () {
    if (!clocksCanStep) {
      console.log('left out: libfaketime is not installed (Debian: faketime)');
      this.skip();
    }
    system = await System.start({ timeline: new Timeline(false), worker: { MAINTENANCE_INTERVAL_MS: '2000' } });
  });

  after(async () => {
    if (clocksCanStep) await system.stop();
  });

  /**
   * Load while the clocks of both ingest pods are so many seconds ahead; resolves with what the
   * audit found.
   */
  async function loadAt(seconds: number, ms: number) {
    for (const slot of ['ingest-1', 'ingest-2'] as const) {
      system.pod(slot).clock.step(seconds);
      const client = new ApiClient(`http://127.0.0.1:${system.pod(slot).apiPort}`, {
        token,
        'x-forwarded-proto': 'https',
      });
      await until(`the clock of ${slot} has stepped`, async () => {
        const { time = '' } = (await client.send({ path: '/v1/ping/' })).json<{ time?: string }>();
        return Math.abs(Date.parse(time) - Date.now() - seconds * 1_000) < 2_000;
      });
      client.close();
    }
    const load = new Load({ port: system.front.port, token, rate: 200, seed: seedOfRun() });
    load.start();
    await sleep(ms);
    await load.stop();
    await system.drained();
    return { load, found: await audit(load.ledger, system, load.automations.ids, organization) };
  }

  async function rowsByTable(automations: string[]): Promise<Map<string, number>> {
    const sql =
      'select tableoid::regclass::text as name, count(*)::integer as rows from events where automation_id = any($1::uuid[]) group by 1';
    const rows = await system.query<{ name: string; rows: number }>(sql, [automations]);
    return new Map(rows.map(({ name, rows }) => [name, rows]));
  }

  const tableOf = (time: number): string => `events_${new Date(time).toISOString().slice(0, 10).replaceAll('-', '')}`;

  it('events on both sides of midnight UTC are stored in their days, and executions across it are whole', async () => {
    const now = Date.now() / 1_000;
    const toMidnight = day - Math.floor(now % day);
    const { load, found } = await loadAt(toMidnight - 6, 7_000);

    expect(found).to.include({ lost: 0, doubled: 0, wrong: 0, unexpected: 0, invalidAnswers: 0 });
    const tables = await rowsByTable(load.automations.ids);
    expect([...tables.keys()]).to.have.members([tableOf(Date.now()), tableOf(Date.now() + day * 1_000)]);
  });

  it('events of a day without a partition wait in the DEFAULT one until theirs is made', async () => {
    const { load, found } = await loadAt(40 * day, 2_000);

    expect(found).to.include({ lost: 0, doubled: 0, wrong: 0, unexpected: 0, invalidAnswers: 0 });
    const missing = tableOf(Date.now() + 40 * day * 1_000);
    await until(
      'maintenance has made the partition and moved the events',
      async () => {
        const tables = await rowsByTable(load.automations.ids);
        return tables.size === 1 && tables.get(missing) === found.rows;
      },
      30_000,
    );
  });
});
