import { expect } from 'chai';
import { Command, Pipeline } from 'ioredis';
import { connect, createProducerRedis, disconnect } from '../../../internal/queue/redis.ts';
import { emptyRedis } from '../../support/servers.ts';

describe("a producer's Redis client", () => {
  it('keeps no arguments of a command that has been answered, or refused: they are the events of a batch', async () => {
    const client = createProducerRedis((await emptyRedis()).url);
    try {
      await connect(client);
      const stored = new Command('set', ['key', 'events']);
      expect(await client.sendCommand(stored)).to.deep.equal(Buffer.from('OK'));
      expect(stored.args).to.deep.equal([]);
      expect(await client.get('key')).to.equal('events');

      const refused = new Command('hget', ['key', 'field']);
      expect(await Promise.resolve(client.sendCommand(refused)).catch(String)).to.contain('WRONGTYPE');
      expect(refused.args).to.deep.equal([]);
    } finally {
      await disconnect(client);
    }
  });

  it('keeps those of a pipeline, which may be sent again', async () => {
    const client = createProducerRedis((await emptyRedis()).url);
    try {
      await connect(client);
      const piped = new Command('set', ['key', 'events']);
      const pipeline = new Pipeline(client);
      pipeline.sendCommand(piped);
      expect(await pipeline.exec()).to.deep.equal([[null, Buffer.from('OK')]]);
      expect(piped.args).to.deep.equal(['key', 'events']);
    } finally {
      await disconnect(client);
    }
  });
});
