import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { playFleet } from '../../support/observability/demo-load.ts';
import { parseExpositions, simulate, type Scrape } from '../../support/observability/exposition.ts';
import { playScenarios } from '../../support/observability/promtool.ts';
import { RealProcesses } from '../../support/observability/real-processes.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { emptyRedis } from '../../support/servers.ts';
import { until } from '../../support/until.ts';

/** What lies between two scrapes that are then taken as a minute apart, in ms. */
const between = 2_000;

describe('an absence of Postgres', function suite() {
  this.timeout(60_000);
  let postgres: PostgresServer;
  let processes: RealProcesses;
  let load: Promise<number[]>;
  const stopping = new AbortController();

  before(async () => {
    const [redis, server] = await Promise.all([emptyRedis(), PostgresServer.start()]);
    postgres = server;
    processes = await RealProcesses.start({ REDIS_URL: redis.url, DATABASE_URL: await postgres.createDatabase() });
    load = steadyLoad();
  });

  after(async () => {
    stopping.abort();
    await load;
    await processes.stop();
    await postgres.stop();
  });

  async function steadyLoad(): Promise<number[]> {
    const accepted: number[] = [];
    while (!stopping.signal.aborted) accepted.push(await playFleet(processes.client, 6));
    return accepted;
  }

  async function scrape(): Promise<Scrape> {
    const [ingest, worker] = await Promise.all([
      processes.metrics(processes.ingestOps),
      processes.metrics(processes.workerOps),
    ]);
    return parseExpositions({ ingest, worker });
  }

  async function twoScrapes(): Promise<{ first: Scrape; second: Scrape }> {
    const first = await scrape();
    await sleep(between);
    return { first, second: await scrape() };
  }

  const valueOf = ({ values }: Scrape, name: string): number =>
    [...values].find(([series]) => series.startsWith(`${name}{`))?.[1] ?? Number.NaN;

  it('of ten minutes pages for Postgres and for the events that wait, and for nothing else', async () => {
    await until('events are stored', async () =>
      valueOf(await scrape(), 'runledger_events_stored_total') > 100 ? true : undefined,
    );
    const well = await twoScrapes();
    await postgres.kill();
    await until('the worker holds', async () =>
      valueOf(await scrape(), 'runledger_store_retrying') === 1 ? true : undefined,
    );
    const away = await twoScrapes();

    const complaint = await playScenarios([
      {
        name: 'two hours of load, then ten minutes without Postgres, as real processes show it',
        world: simulate([
          { ...well, minutes: 120 },
          { ...away, minutes: 11 },
        ]),
        firing: [
          { minute: 60, alerts: [] },
          { minute: 119, alerts: [] },
          { minute: 130, alerts: ['RunledgerOldestJobTooOld', 'RunledgerPostgresUnavailable'] },
        ],
      },
    ]);
    expect(complaint).to.equal('');
  });

  it('is no reason to restart the worker, and said by its readiness', async () => {
    const probe = async (path: string): Promise<{ status: number; body: string }> => {
      const url = `http://127.0.0.1:${processes.workerOps}${path}`;
      const answer = await fetch(url, { headers: { connection: 'close' } });
      return { status: answer.status, body: await answer.text() };
    };
    const unready = await until('readiness notices', async () => {
      const answer = await probe('/readyz');
      return answer.status === 503 ? answer : undefined;
    });
    expect(JSON.parse(unready.body)).to.have.nested.property('failing.postgres');
    expect(await probe('/healthz')).to.deep.equal({ status: 200, body: '{"status":"ok"}' });
  });
});
