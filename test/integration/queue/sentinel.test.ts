import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Child } from '../../support/child.ts';
import { eventBody } from '../../support/events.ts';
import { freePort } from '../../support/free-port.ts';
import { startIngest } from '../../support/pipeline.ts';

describe('a Redis Sentinel', () => {
  it('is named as the cause, and no event is taken', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-sentinel-'));
    const port = await freePort();
    const file = join(folder, 'sentinel.conf');
    await writeFile(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\n`);
    const sentinel = new Child('redis-server', [file, '--sentinel']);
    try {
      await sentinel.line(/Sentinel ID is/);
      await using ingest = await startIngest({ REDIS_URL: `redis://127.0.0.1:${port}` });
      expect(ingest.unready()['redis']).to.equal(
        'Redis does not answer: REDIS_URL leads to a Redis Sentinel; name the Redis master',
      );
      expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
    } finally {
      await sentinel.kill('SIGKILL');
      await rm(folder, { recursive: true });
    }
  });
});
