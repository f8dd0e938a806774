import { expect } from 'chai';
import { createToken } from '../../internal/cluster/tokens/manifest.ts';
import { until } from '../support/until.ts';
import { Ingest } from '../support/cluster/ingest.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { RedisServer } from '../support/redis-server.ts';

const rounds = 20;

describe('life of a token under request load', () => {
  let tenancy: Tenancy;
  let redis: RedisServer;
  let ingest: Ingest;

  before(async () => {
    [tenancy, redis] = await Promise.all([createTenancy(), RedisServer.start()]);
    ingest = await Ingest.start(tenancy, sharedCluster().url, redis.url);
    await ingest.ready();
  });
  after(async () => {
    const code = await ingest.stop();
    await redis.stop();
    expect(code, 'exit code of ingest').to.equal(0);
  });

  it(`is followed, over ${rounds} rounds; no answer to another token is a refusal`, async function () {
    this.timeout(180_000);
    const untouched = createToken();
    await tenancy.put('untouched', 'untouched', { 'token-1': untouched });
    const opens = async (token: string, expected: string | number): Promise<number> => {
      const began = performance.now();
      await until(`token to give ${expected}`, async () => (await ingest.whose(token)) === expected);
      return performance.now() - began;
    };
    await opens(untouched, 'untouched');

    const took: Record<string, number[]> = { created: [], rotated: [], revoked: [], changed: [], deleted: [] };
    const load = ingest.load(untouched, 4);
    for (let round = 0; round < rounds; round += 1) {
      const [name, organization] = [`round-${round}`, `org-${round}`];
      const [first, second] = [createToken(), createToken()];
      await tenancy.put(name, organization, { 'token-1': first });
      took['created']?.push(await opens(first, organization));
      await tenancy.put(name, organization, { 'token-1': first, 'token-2': second });
      took['rotated']?.push(await opens(second, organization));
      expect(await ingest.whose(first), 'the old token during rotation').to.equal(organization);
      await tenancy.put(name, organization, { 'token-2': second });
      took['revoked']?.push(await opens(first, 401));
      expect(await ingest.whose(second), 'the new token after rotation').to.equal(organization);
      await tenancy.put(name, `${organization}-b`, { 'token-2': second });
      took['changed']?.push(await opens(second, `${organization}-b`));
      await tenancy.delete(name);
      took['deleted']?.push(await opens(second, 401));
    }
    await load.stop();

    for (const [step, durations] of Object.entries(took)) {
      const sorted = durations.toSorted((a, b) => a - b);
      const [median = NaN, worst = NaN] = [sorted[rounds / 2], sorted[rounds - 1]];
      console.log(`      ${step}: median ${Math.round(median)} ms, worst ${Math.round(worst)} ms`);
    }
    expect(load.statuses, 'answers to the untouched token').to.have.all.keys('200', '201');
    expect(load.answers).to.have.length.above(rounds);
  });
});
