import { spawnSync } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Request } from '../../support/api-client.ts';
import { eventBody } from '../../support/events.ts';
import { Collector, type CollectedSpan } from '../../support/observability/collector.ts';
import { pingKey, RealProcesses } from '../../support/observability/real-processes.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const caller = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const unsampled = '5bf92f3577b34da6a3ce929d0e0e4737';
const traceparent = (trace: string, flags: string): string => `00-${trace}-${caller.span}-${flags}`;

describe('traces', function suite() {
  this.timeout(60_000);

  describe('of real processes', () => {
    let collector: Collector;
    let processes: RealProcesses;
    before(async () => {
      const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
      collector = await Collector.start();
      processes = await RealProcesses.start({
        REDIS_URL: redis.url,
        DATABASE_URL: database,
        LOG_LEVEL: 'debug',
        // Requests wait for each other, and share a commit.
        COMMITS_IN_FLIGHT: '1',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
      });
    });
    after(async () => {
      await processes.stop();
      await collector.stop();
    });

    it('follow an event from the request through the job to the statement', async () => {
      const quiet = await processes.client.register(eventBody(), { traceparent: traceparent(unsampled, '00') });
      const answer = await processes.client.register(eventBody(), { traceparent: traceparent(caller.trace, '01') });
      expect([quiet.status, answer.status]).to.deep.equal([201, 201]);
      expect(answer.headers['x-request-id']).to.equal(caller.trace);
      const spans = await until('the last span', () => {
        const ofTrace = collector.spans.filter(({ traceId }) => traceId === caller.trace);
        return ofTrace.some(({ name }) => name === 'store events') && ofTrace.length >= 5 ? ofTrace : undefined;
      });
      expect(chain(spans)).to.deep.equal([
        'runledger-ingest POST /v1/register/',
        'runledger-ingest commit events',
        'runledger-ingest add events',
        'runledger-worker process events',
        'runledger-worker store events',
      ]);
      const traces = new Set(collector.spans.map(({ traceId }) => traceId));
      expect(traces, 'neither unsampled requests nor polling').to.deep.equal(new Set([caller.trace]));
    });

    it('link the other requests of a batch to the commit that one of them leads to', async () => {
      collector.spans.length = 0;
      const answers = await Promise.all(Array.from({ length: 40 }, () => processes.client.register(eventBody())));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
      const requests = await until('all requests', () => {
        const served = collector.spans.filter(({ name }) => name.startsWith('POST'));
        return served.length === 40 ? served : undefined;
      });
      const commits = collector.spans.filter(({ name }) => name === 'commit events');
      const reached = commits.flatMap(({ traceId, links }) => [traceId, ...links]);
      expect(reached.sort()).to.deep.equal(requests.map(({ traceId }) => traceId).sort());
      expect(commits.length).to.be.below(40);
    });

    it('hold no ping key, and neither do logs, metrics and answers', async () => {
      const automation = randomUUID();
      const wrong = 'wrong-ping-key-0123456789';
      const secrets = [pingKey, hash('sha256', pingKey, 'hex'), wrong];
      const refused = [`${pingKey}/${automation}/no`, `${pingKey}/x.y`, `${pingKey}/%zz`];
      const ofLast = '6bf92f3577b34da6a3ce929d0e0e4738';
      const requests: Request[] = [
        { path: `/ping/${pingKey}/${automation}/start` },
        { method: 'POST', path: `/ping/${pingKey}/${automation}/1`, body: 'no space' },
        { method: 'PUT', path: `/ping/${pingKey}/${automation}` },
        { path: `/ping/${pingKey}/${automation}`, headers: { 'x-forwarded-proto': 'http' } },
        { path: '/v1/ping/', headers: { token: pingKey } },
        ...refused.map((path) => ({ path: `/ping/${path}` })),
        { path: `/ping/${wrong}/${automation}`, headers: { traceparent: traceparent(ofLast, '01') } },
      ];
      const answers = [];
      for (const { headers, ...request } of requests) {
        const referer = `https://runledger.example/ping/${pingKey}/${automation}`;
        answers.push(await processes.client.send({ ...request, headers: { referer, ...headers } }));
      }
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 405, 301, 403, 404, 400, 400, 401]);
      for (const { headers } of answers.slice(0, 2)) expect(headers).to.include({ 'referrer-policy': 'no-referrer' });

      const isLast = ({ traceId }: CollectedSpan): boolean => traceId === ofLast;
      await until('the span of the last answer', () => collector.spans.some(isLast));
      await until('a refusal in the log', () => processes.logs.some((line) => line.includes('"status":401')));
      const seen = {
        traces: collector.requests.join('\n'),
        logs: processes.logs.join('\n'),
        metrics: (await processes.metrics()).join('\n'),
        answers: JSON.stringify(answers),
      };
      for (const name of ['traces', 'logs', 'metrics'] as const)
        expect(seen[name].includes('/ping/'), name).to.equal(true);
      const leaks = Object.entries(seen).filter(([, text]) => secrets.some((secret) => text.includes(secret)));
      expect(leaks.map(([name]) => name)).to.deep.equal([]);
    });
  });

  const off: [string, Record<string, string>][] = [
    ['nothing asks for them', {}],
    ['they are disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost', OTEL_SDK_DISABLED: 'true' }],
    ['the exporter is none', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost', OTEL_TRACES_EXPORTER: 'none' }],
  ];
  for (const [name, settings] of off) {
    it(`cost nothing when ${name}: OpenTelemetry's SDK is not even loaded`, () => {
      expect(loadedWith(settings)).to.deep.equal([]);
    });
  }

  it('load the SDK when an endpoint is given', () => {
    expect(loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost' })).to.include('@opentelemetry/sdk-trace');
  });
});

/** Names of the spans from the caller's on, each being the parent of the next. */
function chain(spans: CollectedSpan[]): string[] {
  const names: string[] = [];
  let parent = caller.span;
  for (let next = spans.find(({ parentId }) => parentId === parent); next !== undefined;) {
    names.push(`${next.service} ${next.name}`);
    parent = next.spanId;
    next = spans.find(({ parentId }) => parentId === parent);
  }
  return names;
}

/**
 * The packages of OpenTelemetry that an ingest imports, but for its API, which the metrics library
 * brings along. The process ends when it finds that its tokens are missing.
 */
function loadedWith(settings: Record<string, string>): string[] {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(specifier, context, next) {
      if (/^(@opentelemetry\\/(?!api$)|bullmq-otel)/.test(specifier)) process.stdout.write('loads ' + specifier + '\\n');
      return next(specifier, context);
    } });`;
  const { stdout } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, 'cmd/ingest/main.ts'],
    {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        PUBLIC_URL: 'https://runledger.example',
        REDIS_URL: 'redis://127.0.0.1:1',
        PORT: '0',
        OPS_PORT: '0',
        TOKENS_FILE: '/nowhere',
        ...settings,
      },
    },
  );
  const loaded = stdout.split('\n').flatMap((line) => /^loads (\S+)$/.exec(line)?.[1] ?? []);
  return [...new Set(loaded)];
}
