import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createToken } from '../../internal/cluster/tokens/manifest.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import type { Callers } from '../support/callers.ts';
import { until } from '../support/until.ts';
import { Forwarder } from '../support/forwarder.ts';
import { Ingest } from '../support/cluster/ingest.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { RedisServer } from '../support/redis-server.ts';

const catchUpMs = 35_000;

describe('an API server that goes away', () => {
  let cluster: Cluster;
  let tenancy: Tenancy;
  let redis: RedisServer;
  let network: Forwarder;
  let ingest: Ingest;
  const untouched = createToken();

  beforeEach(async () => {
    cluster = sharedCluster();
    [tenancy, redis] = await Promise.all([createTenancy(), RedisServer.start()]);
    // So long, also when compressed, that a list of all of them can be cut in the middle.
    for (let index = 0; index < 40; index += 1) {
      await tenancy.put(`s-${index}`, `org-${index}`, {
        token: createToken(),
        padding: randomBytes(10_000).toString('hex'),
      });
    }
    await tenancy.put('untouched', 'untouched', { token: untouched });
    network = await Forwarder.start(Number(new URL(cluster.url).port));
  });
  afterEach(async () => {
    await ingest.stop();
    await Promise.all([network[Symbol.asyncDispose](), redis.stop()]);
  });

  /**
   * How many watches of the tokens namespace's Secrets the API server has open, by its own account.
   */
  async function openWatches(): Promise<number> {
    const { text } = await cluster.admin.call('GET', '/metrics');
    const gauges = text.split('\n').filter((line) => line.startsWith('apiserver_longrunning_requests{'));
    const ours = gauges.filter((line) => /resource="secrets"/.test(line) && /scope="namespace"/.test(line));
    return ours.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Changes what ingest has not seen yet. Resolves with the milliseconds until it works. */
  async function catchesUp(): Promise<number> {
    const token = createToken();
    await tenancy.put('fresh', 'fresh', { token });
    await tenancy.delete('s-0');
    const began = performance.now();
    await until('the new token', async () => (await ingest.whose(token)) === 'fresh', catchUpMs);
    return performance.now() - began;
  }

  /** One watch is open, and no other one by the time that it has brought a change. */
  async function watchesOnce(): Promise<void> {
    await until('one watch', async () => (await openWatches()) === 1);
    const token = createToken();
    await tenancy.put('watched', 'watched', { token });
    await until('the watched change', async () => (await ingest.whose(token)) === 'watched');
    await until('no other watch', async () => (await openWatches()) === 1);
  }

  /** Each answer is a success, or a 503 of ingest whose Redis did not answer in time. */
  async function expectServed({ statuses }: Callers): Promise<void> {
    expect(statuses).to.include.keys('200', '201');
    expect(['200', '201', '503']).to.include.members(Object.keys(statuses));
    expect(statuses[503] ?? 0).to.equal(await ingest.metric('runledger_rejections_total'));
  }

  it('until the pauses between attempts are the longest: serving never stops, the set catches up within 35 s, one watch is open', async function () {
    this.timeout(150_000);
    ingest = await Ingest.start(tenancy, cluster.url, redis.url);
    await ingest.ready();
    await watchesOnce();
    const load = ingest.load(untouched, 2);
    await cluster.kill();
    const attempts = () => ingest.metric('runledger_token_watch_restarts_total');
    // Pauses grow from 1 s to 30 s in six attempts.
    await until('six attempts', async () => (await attempts()) >= 6, 90_000);
    await until('it is ready', async () => (await ingest.readiness()) === 200);
    await cluster.restart();
    const caughtUpMs = await catchesUp();
    await watchesOnce();
    await load.stop();
    console.log(
      `      caught up after ${Math.round(caughtUpMs)} ms, ${load.answers.length} requests accepted meanwhile`,
    );
    await expectServed(load);
  });

  it('in the middle of the first list: 503 and never 401 until the list is complete', async function () {
    this.timeout(90_000);
    const cut = network.stalledAfter(100_000);
    ingest = await Ingest.start(tenancy, `https://127.0.0.1:${network.port}`, redis.url);
    await cut;
    await cluster.kill();
    network.reset();
    expect((await ingest.ping(untouched)).status).to.equal(503);
    expect((await ingest.ping('some-other-token')).status).to.equal(503);
    await until('it is not ready', async () => (await ingest.readiness()) === 503);
    await cluster.restart();
    await ingest.ready(catchUpMs);
    expect(await ingest.whose(untouched)).to.equal('untouched');
    expect(await ingest.whose('some-other-token')).to.equal(401);
    await watchesOnce();
  });

  it('in the middle of a later list: serving never stops, the set catches up within 35 s, one watch is open', async function () {
    this.timeout(120_000);
    ingest = await Ingest.start(tenancy, `https://127.0.0.1:${network.port}`, redis.url);
    await ingest.ready();
    const load = ingest.load(untouched, 2);
    await cluster.kill();
    const cut = network.stalledAfter(100_000);
    await cluster.restart();
    await cut;
    await cluster.kill();
    network.reset();
    await cluster.restart();
    const caughtUpMs = await catchesUp();
    await watchesOnce();
    await load.stop();
    console.log(
      `      caught up after ${Math.round(caughtUpMs)} ms, ${load.answers.length} requests accepted meanwhile`,
    );
    await expectServed(load);
  });
});
