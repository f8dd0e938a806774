import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { eventBody } from '../../support/events.ts';
import { Collector, type CollectedSpan } from '../../support/observability/collector.ts';
import { RealProcesses } from '../../support/observability/real-processes.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const caller = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const unsampled = '5bf92f3577b34da6a3ce929d0e0e4737';
const traceparent = (trace: string, flags: string): string => `00-${trace}-${caller.span}-${flags}`;

describe('traces', function suite() {
  this.timeout(40_000);

  it('follow an event from the request through the job to the statement', async () => {
    const [redis, database, collector] = await Promise.all([emptyRedis(), migratedUrl(), Collector.start()]);
    const processes = await RealProcesses.start({
      REDIS_URL: redis.url,
      DATABASE_URL: database,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    });
    try {
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
    } finally {
      await processes.stop();
      await collector.stop();
    }
  });

  it('link the other requests of a batch to the commit that one of them leads to', async () => {
    const [redis, database, collector] = await Promise.all([emptyRedis(), migratedUrl(), Collector.start()]);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const processes = await RealProcesses.start({
      ...settings,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      COMMITS_IN_FLIGHT: '1',
    });
    try {
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
    } finally {
      await processes.stop();
      await collector.stop();
    }
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

  it('load it when an endpoint is given', () => {
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
