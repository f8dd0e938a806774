import { expect } from 'chai';
import { redisAddresses, redisSettings } from '../../../internal/wiring/redis.ts';
import { readConfig } from '../../../internal/config/read.ts';

describe('REDIS_SENTINELS', () => {
  const address = (settings: Record<string, string>) => redisAddresses(readConfig(redisSettings, settings))[0];

  it('leads to the Sentinels, and the host of REDIS_URL is the name of the master', () => {
    const settings = {
      REDIS_URL: 'rediss://Main_1/2',
      REDIS_PASSWORD: 'p@ss',
      REDIS_SENTINELS: 's-0, s-1:5000,[::1]:26379',
      REDIS_SENTINEL_PASSWORD: 'word',
    };
    const nodes = [
      { host: 's-0', port: 26_379 },
      { host: 's-1', port: 5_000 },
      { host: '::1', port: 26_379 },
    ];
    const url = 'rediss://:p%40ss@Main_1/2';
    expect(address(settings)).to.deep.equal({ url, nodes, username: undefined, password: 'word' });
    expect(address({ REDIS_URL: 'redis://redis' })).to.equal('redis://redis');
  });

  it('does not concern a Redis Cluster, a socket or a Redis with a port beside the master', () => {
    for (const url of ['redis://a,redis://b', '/run/redis.sock', 'redis://redis-a:6379']) {
      expect(address({ REDIS_URL: url, REDIS_SENTINELS: 's' })).to.equal(url);
    }
  });
});
