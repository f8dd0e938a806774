import { expect } from 'chai';
import { join } from 'node:path';
import { createToken } from '../../internal/cluster/tokens/manifest.ts';
import { digestOf } from '../../internal/cluster/tokens/token-entry.ts';
import { until } from '../support/until.ts';
import { Ingest } from '../support/cluster/ingest.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { nodeOptionsOfImage } from '../support/image-environment.ts';
import { RedisServer } from '../support/redis-server.ts';

const organizations = 2000;

describe(`${organizations} organizations with 2 tokens each`, () => {
  const clear = Array.from({ length: organizations }, createToken);
  const digested = Array.from({ length: organizations }, createToken);
  let tenancy: Tenancy;
  let redis: RedisServer;

  const entries = (index: number): Record<string, string> => ({
    'token-1': clear[index] ?? '',
    'sha256-2': digestOf(digested[index] ?? ''),
  });

  before(async function () {
    this.timeout(120_000);
    [tenancy, redis] = await Promise.all([createTenancy(), RedisServer.start()]);
    const indexes = Array.from({ length: organizations }, (_, index) => index).values();
    const create = async (): Promise<void> => {
      for (const index of indexes) await tenancy.put(`s-${index}`, `org-${index}`, entries(index));
    };
    await Promise.all(Array.from({ length: 8 }, create));
  });
  after(() => redis.stop());

  /**
   * What the image brings along: Node's compile cache, without which it loads a TypeScript compiler
   * of 20 MB.
   */
  async function warmCompileCache(): Promise<NodeJS.ProcessEnv> {
    const env = {
      NODE_OPTIONS: nodeOptionsOfImage().join(' '),
      NODE_COMPILE_CACHE: join(tenancy.accountFolder, 'compile-cache'),
    };
    const first = await Ingest.start(tenancy, sharedCluster().url, redis.url, env);
    await first.ready();
    await first.stop();
    return env;
  }

  it('are all known once it is ready, in under 150 MB; a change is applied', async () => {
    const env = await warmCompileCache();
    const ingest = await Ingest.start(tenancy, sharedCluster().url, redis.url, env);
    try {
      const started = performance.now();
      await ingest.ready();
      const readyMs = performance.now() - started;
      for (let index = 0; index < organizations; index += 1) {
        const token = (index % 2 === 0 ? clear : digested)[index] ?? '';
        expect(await ingest.whose(token)).to.equal(`org-${index}`);
      }

      const fresh = createToken();
      const began = performance.now();
      await tenancy.put('s-1000', 'org-1000', { ...entries(1000), 'token-3': fresh });
      await until('the new token', async () => (await ingest.whose(fresh)) === 'org-1000');
      const changeMs = performance.now() - began;

      const { now, most } = await ingest.residentMb();
      console.log(
        `      ready after ${Math.round(readyMs)} ms, change applied after ${Math.round(changeMs)} ms,`,
        `${Math.round(now)} MB resident (at most ${Math.round(most)})`,
      );
      expect(now).to.be.below(150);
    } finally {
      await ingest.stop();
    }
  });
});
