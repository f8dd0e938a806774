import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { EmbeddedRedis } from '../../../cmd/standalone/embedded-redis.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

describe('the embedded redis', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'runledger-embedded-'));
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  it('comes back with its data after a kill, also when it cannot be started at first', async () => {
    const [folder, away, socket] = [join(root, 'redis'), join(root, 'away'), join(root, 'redis.sock')];
    await mkdir(folder);
    const { logger, records } = recordingLogger();
    const embedded = new EmbeddedRedis(folder, socket, logger);
    await embedded.start();
    try {
      const [pid] = await ask(socket, async (redis) => {
        await redis.set('receipt', 'kept');
        return /(?<=process_id:)\d+/.exec(await redis.info('server')) ?? [];
      });
      await rename(folder, away);
      process.kill(Number(pid), 'SIGKILL');
      await until('a start that fails', () =>
        records.find(({ message }) => message === 'embedded redis cannot be started, trying again'),
      );
      await rename(away, folder);
      const kept = await until('it is back', () =>
        ask(socket, async (redis) => (await redis.get('receipt')) ?? undefined).catch(() => undefined),
      );
      expect(kept).to.equal('kept');
    } finally {
      await embedded.stop();
    }
  });
});

async function ask<T>(socket: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(socket, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
