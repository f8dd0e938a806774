import { existsSync, readFileSync } from 'node:fs';
import { HttpMethod, RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';
import { Router } from '@koa/router';
import { RedisQueueBackend } from 'bullmq';
import { expect } from 'chai';
import { Cluster, Redis } from 'ioredis';
import { Client, Connection, Query } from 'pg';
import { Registry } from 'prom-client';
import { createWatch } from '../../internal/cluster/client-node-quirks.ts';
import { routesOf } from '../../internal/intake/http/koa-router-quirks.ts';
import { Distribution, TalliedHistogram } from '../../internal/kit/telemetry/distribution.ts';

/**
 * Where private parts of a library are used, and the version in which they were looked through. For
 * a new version: compare what the file says with the library's source, run the tests of the room,
 * then change the version here.
 */
const lookedThrough: Record<string, [version: string, file: string]> = {
  bullmq: ['6.7.0', 'internal/queue/bullmq-quirks.ts'],
  'bullmq-otel': ['2.0.1', 'internal/kit/telemetry/queue-tracing.ts'],
  ioredis: ['6.0.0', 'internal/queue/ioredis-quirks.ts'],
  pg: ['8.23.1', 'internal/store/pg-quirks.ts'],
  kysely: ['0.29.9', 'internal/store/embedded.ts'],
  '@koa/router': ['15.7.0', 'internal/intake/http/koa-router-quirks.ts'],
  '@kubernetes/client-node': ['2.0.1', 'internal/cluster/client-node-quirks.ts'],
  'prom-client': ['15.1.3', 'internal/kit/telemetry/distribution.ts'],
};

const hasMethods = (prototype: object, ...names: string[]): void => {
  for (const name of names) expect(prototype, name).to.have.property(name).that.is.a('function');
};

describe('private parts of libraries', () => {
  for (const [library, [version, file]] of Object.entries(lookedThrough)) {
    it(`of ${library} were looked through in the version in use`, () => {
      const installed = JSON.parse(readFileSync(`node_modules/${library}/package.json`, 'utf8')) as { version: string };
      expect(installed.version, `compare ${file} with the new version`).to.equal(version);
      expect(existsSync(file), file).to.equal(true);
    });
  }

  it('are where they were: BullMQ, ioredis and pg', () => {
    const backend = ['addJob', 'addJobToTransaction', 'execCommand', 'moveToActive', 'moveToCompleted'];
    hasMethods(RedisQueueBackend.prototype, ...backend, 'moveToDelayed', 'moveToFailed', 'waitForJob');
    hasMethods(Redis.prototype, 'duplicate', 'sendCommand', 'connect');
    hasMethods(Cluster.prototype, 'sendCommand', 'connect');
    hasMethods(Query.prototype, 'submit');
    hasMethods(Connection.prototype, 'parse', 'bind', 'describe', 'execute');
    hasMethods(Client.prototype, 'getTransactionStatus');
  });

  it('are where they were: the watch of Kubernetes has its time-out and its two methods', async () => {
    const asked: string[] = [];
    const watch = createWatch(
      {
        getCurrentCluster: () => ({ server: 'http://127.0.0.1:1' }),
        applySecurityAuthentication: async (request) => void asked.push(request.getUrl()),
      },
      4_711,
    );
    expect(watch).to.have.property('requestTimeoutMs', 4_711);
    const ended = await new Promise((end) => void watch.watch('/path', {}, () => undefined, end));
    expect(ended).to.be.an('error');
    expect(asked).to.deep.equal(['http://127.0.0.1:1/path?watch=true']);
    expect(new RequestContext('http://x/', HttpMethod.GET).getHttpMethod()).to.equal('GET');
  });

  it('are where they were: the router leaves its route, its paths and its captures on the context', async () => {
    const router = new Router({ sensitive: true });
    router.register('/a/:b', ['GET'], () => undefined, { name: '/a/{b}/' });
    const ctx = { path: '/a/x%2Fy', method: 'GET', request: {} };
    await routesOf(router)(ctx as never, () => Promise.resolve());
    expect(ctx).to.deep.include({ _matchedRouteName: '/a/{b}/', captures: ['x%2Fy'] });
    expect(ctx).to.have.nested.property('matched[0].methods').that.includes('GET');
  });

  it('are where they were: the registry asks a histogram for its text', async () => {
    const registry = new Registry();
    const tally = new Distribution([1, 2]);
    tally.add(1.5);
    const shown = { name: 'shown', help: 'Shown.', buckets: [1, 2], registers: [] };
    registry.registerMetric(new TalliedHistogram(shown, () => [[{}, tally]]));
    expect(await registry.metrics()).to.include('shown_bucket{le="2"} 1');
  });
});
