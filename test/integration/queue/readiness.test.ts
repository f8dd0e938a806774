import { expect } from 'chai';
import { eventBody } from '../../support/events.ts';
import { startIngest } from '../../support/pipeline.ts';
import { durable, RedisServer } from '../../support/redis-server.ts';
import { figure } from '../../support/rows.ts';
import { until } from '../../support/until.ts';

const isEmpty = (failures: Record<string, string>) => (Object.keys(failures).length === 0 ? true : undefined);

describe('readiness of ingest', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await RedisServer.start([...durable]);
  });
  afterEach(() => redis.stop());

  it('is false until Redis has taken events for the first time', async () => {
    await redis.kill();
    await using ingest = await startIngest({ REDIS_URL: redis.url });
    expect(ingest.unready()['redis']).to.match(/^Redis does not answer/);
    await redis.startAgain();
    await until('ready', () => isEmpty(ingest.unready()));
  });

  it('is false until Redis has been durable once, where that is required', async () => {
    await redis.command('config', 'set', 'appendfsync', 'everysec');
    await using ingest = await startIngest({ REDIS_URL: redis.url, REQUIRE_DURABLE_REDIS: 'true' });
    expect(ingest.unready()['redis']).to.contain('appendfsync is everysec');
    await redis.command('config', 'set', 'appendfsync', 'always');
    await until('ready', () => isEmpty(ingest.unready()));
  });

  it('stays true while Redis is unavailable: callers get 503 with Retry-After, and the metrics count it', async () => {
    await using ingest = await startIngest({ REDIS_URL: redis.url });
    const { client, telemetry } = ingest;
    await redis.kill();
    await until('the outage is seen', () => ingest.degraded()['redis']);
    expect(ingest.unready()).to.deep.equal({});
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.register(eventBody())));
    for (const answer of answers) {
      expect(answer.status).to.equal(503);
      expect(answer.headers).to.include({ 'content-type': 'application/problem+json', 'retry-after': '1' });
      expect(answer.json()).to.include({ status: 503, type: 'https://runledger.dev/problems/unavailable' });
    }
    const counted = { route: '/v1/register/', method: 'POST', status: 503 };
    expect(await figure(telemetry.registry, 'runledger_http_requests_total', counted)).to.equal(20);
    expect(ingest.unready()).to.deep.equal({});

    await redis.startAgain();
    await until('events are taken again', () => isEmpty(ingest.degraded()));
    expect(await client.register(eventBody())).to.include({ status: 201 });
  });
});
