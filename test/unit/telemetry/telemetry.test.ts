import { expect } from 'chai';
import { Gauge, Registry } from '../../../internal/kit/telemetry/metrics.ts';
import { OpsServer } from '../../../internal/kit/ops/ops-server.ts';
import { createProbes } from '../../../internal/kit/ops/probes.ts';
import { ApiClient } from '../../support/api-client.ts';

describe('ops server', () => {
  const probes = createProbes();
  const registry = new Registry();
  new Gauge({ name: 'runledger_test', help: 'Of this test.', registers: [registry] }).set(7);
  const ops = new OpsServer({ OPS_PORT: 0 }, probes, registry);
  let client: ApiClient;
  before(async () => {
    await ops.start();
    client = new ApiClient(`http://127.0.0.1:${ops.port}`);
  });
  afterEach(() => {
    client.close();
    probes.live.clear();
    probes.ready.clear();
    probes.degraded.clear();
  });
  after(async () => {
    await ops.stop();
    await ops.stop();
  });

  it('says 200 while every check of a probe holds, and 503 with the reasons when not', async () => {
    probes.live.set('progress', () => undefined);
    probes.ready.set('redis', () => 'Redis does not answer.');
    probes.ready.set('tokens', () => undefined);

    const [live, ready] = [await client.send({ path: '/healthz' }), await client.send({ path: '/readyz?verbose' })];
    expect([live.status, live.json()]).to.deep.equal([200, { status: 'ok' }]);
    expect(ready.status).to.equal(503);
    expect(ready.json()).to.deep.equal({ status: 'failing', failing: { redis: 'Redis does not answer.' } });
  });

  it('shows on /readyz why a ready pod is degraded', async () => {
    probes.degraded.set('redis', () => 'Redis does not answer.');
    const ready = await client.send({ path: '/readyz' });
    const body = { status: 'ok', degraded: { redis: 'Redis does not answer.' } };
    expect([ready.status, ready.json()]).to.deep.equal([200, body]);
  });

  it('exports the registry, and has nothing else', async () => {
    const metrics = await client.send({ path: '/metrics' });
    expect(metrics.headers['content-type']).to.match(/^text\/plain/);
    expect(metrics.body).to.contain('runledger_test 7');
    expect((await client.send({ path: '/v1/ping/' })).status).to.equal(404);
  });

  it('may be stopped before it started', async () => {
    await new OpsServer({ OPS_PORT: 0 }, probes, registry).stop();
  });
});
