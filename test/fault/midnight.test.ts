import { expect } from 'chai';
import { ApiClient } from '../support/api-client.ts';
import { flawless } from '../support/fault/audit.ts';
import { clocksCanStep } from '../support/fault/clock.ts';
import { receiptsOf } from '../support/fault/ledger.ts';
import { System } from '../support/fault/system.ts';
import { token } from '../support/fault/tokens.ts';
import { until } from '../support/until.ts';

const day = 86_400_000;

/** The midnight in UTC that comes next. In ms since the Unix epoch. */
const nextMidnight = (): number => (Math.floor(Date.now() / day) + 1) * day;
const tableOf = (time: number): string => `events_${new Date(time).toISOString().slice(0, 10).replaceAll('-', '')}`;

describe('days', () => {
  let system: System;

  before(async function () {
    if (!clocksCanStep) {
      console.log('left out: libfaketime is not installed (Debian: faketime)');
      this.skip();
    }
    system = await System.start({ worker: { MAINTENANCE_INTERVAL_MS: '2000' } });
  });

  after(() => system?.stop());

  /**
   * Steps the clocks of both ingest pods to a time, plays a load until it got 100 receipts from
   * `since` on, and returns the load's automations and the rows stored.
   */
  async function loadAt(time: number, since: number): Promise<{ automations: string[]; rows: number }> {
    const ahead = Math.round((time - Date.now()) / 1_000);
    for (const slot of ['ingest-1', 'ingest-2'] as const) {
      system.pod(slot).clock.step(ahead);
      const headers = { token, 'x-forwarded-proto': 'https' };
      const client = new ApiClient(`http://127.0.0.1:${system.pod(slot).apiPort}`, headers);
      await until(`the clock of ${slot} has stepped`, async () => {
        const { time: shown = '' } = (await client.send({ path: '/v1/ping/' })).json<{ time?: string }>();
        return Math.abs(Date.parse(shown) - Date.now() - ahead * 1_000) < 2_000;
      });
      client.close();
    }
    const load = system.startLoad({ rate: 200 });
    const times = () => load.ledger.entries.flatMap(receiptsOf).filter((receipt) => Date.parse(receipt) >= since);
    await until('100 receipts of that day', () => times().length > 100, 60_000);
    const { found } = await system.settle(load);
    expect(found).to.include(flawless);
    return { automations: load.automations.ids, rows: found.rows };
  }

  async function rowsByTable(automations: string[]): Promise<Record<string, number>> {
    const rows = await system.query<{ name: string; rows: number }>(
      'select tableoid::regclass::text as name, count(*)::integer as rows from events where automation_id = any($1::uuid[]) group by 1',
      [automations],
    );
    return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
  }

  it('events on both sides of midnight UTC are stored in their days, and executions across it are whole', async () => {
    const midnight = nextMidnight();
    const { automations } = await loadAt(midnight - 8_000, midnight);
    expect(await rowsByTable(automations)).to.have.all.keys(tableOf(midnight - day), tableOf(midnight));
  });

  it('events of a day without a partition wait in the DEFAULT one until theirs is made', async () => {
    const midnight = nextMidnight() + 40 * day;
    const { automations, rows } = await loadAt(midnight, midnight);
    await until(
      'maintenance has made the partition and moved the events',
      async () => (await rowsByTable(automations))[tableOf(midnight)] === rows,
      30_000,
    );
  });
});
