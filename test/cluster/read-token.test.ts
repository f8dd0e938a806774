import { expect } from 'chai';
import { createToken } from '../../internal/cluster/tokens/manifest.ts';
import { digestOf } from '../../internal/cluster/tokens/token-entry.ts';
import { until } from '../support/until.ts';
import { Ingest } from '../support/cluster/ingest.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { createTenancy, type Tenancy } from '../support/cluster/tenancy.ts';
import { eventBody } from '../support/events.ts';
import { RedisServer } from '../support/redis-server.ts';

describe('a read token of a Secret', () => {
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

  const becomes = (token: string, status: number) =>
    until(`the token gives ${status}`, async () => (await ingest.ping(token)).status === status);

  for (const [form, entryOf] of [
    ['in clear', (token: string) => ({ 'read-1': token })],
    ['as a digest', (token: string) => ({ 'read-sha256-1': digestOf(token) })],
  ] as const) {
    it(`works ${form} without a write token beside it, records no event, and is revoked`, async () => {
      const [read, write] = [createToken('read'), createToken()];
      await tenancy.put('acme', 'acme', entryOf(read));
      await becomes(read, 200);
      expect((await ingest.ping(read)).json()).to.include({ organization: 'acme', scope: 'read' });
      expect((await ingest.api.register(eventBody(), { token: read })).status).to.equal(403);

      await tenancy.put('acme', 'acme', { 'token-2': write });
      await becomes(read, 401);
      await becomes(write, 200);
      expect((await ingest.api.register(eventBody(), { token: write })).status).to.equal(201);
      expect((await ingest.api.register(eventBody(), { token: read })).status).to.equal(401);
    });
  }

  it('is refused for both uses while it is a write token too', async () => {
    const [token, neighbour] = [createToken(), createToken()];
    await tenancy.put('acme', 'acme', { 'token-1': token, 'read-1': token, 'token-2': neighbour });
    await becomes(neighbour, 200);
    expect((await ingest.ping(token)).status).to.equal(401);
    await tenancy.put('acme', 'acme', { 'read-1': token });
    await becomes(token, 200);
    expect((await ingest.ping(token)).json()).to.include({ scope: 'read' });
  });
});
