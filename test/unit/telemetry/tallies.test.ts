import { expect } from 'chai';
import * as fc from 'fast-check';
import { apiMetrics } from '../../../internal/intake/http/api-metrics.ts';
import { batchBuckets, Counter, Histogram, Registry, requestBuckets } from '../../../internal/kit/telemetry/metrics.ts';
import { producerMetrics } from '../../../internal/queue/producer-metrics.ts';

/** What a scrape shows of some metrics: their types and samples, without regard to order. */
async function shown(registry: Registry, ...names: string[]): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => names.some((name) => line.replace('# TYPE ', '').startsWith(name))).sort();
}

/** Both registries show the same of these metrics, at a second scrape too. */
async function expectSame(ours: Registry, library: Registry, ...names: string[]): Promise<void> {
  const expected = await shown(library, ...names);
  expect(await shown(ours, ...names)).to.deep.equal(expected);
  expect(await shown(ours, ...names), 'a second scrape').to.deep.equal(expected);
}

describe("tallies show what the library's own counters and histograms would", () => {
  it('of requests', async () => {
    const [requests, seconds] = ['runledger_http_requests_total', 'runledger_http_request_duration_seconds'];
    const request = fc.record({
      route: fc.constantFrom('/v1/register/', '/v1/ping/', 'none'),
      method: fc.constantFrom('GET', 'POST'),
      status: fc.constantFrom(201, 400, 503),
      // Sums of these are exact in whatever order they are added up.
      time: fc.integer({ min: 0, max: 3 * 1024 }).map((number) => number / 1024),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 60 }), async (all) => {
        const [ours, library] = [new Registry(), new Registry()];
        for (const registry of [ours, library]) registry.setDefaultLabels({ process: 'ingest' });
        const metrics = apiMetrics(ours);
        const common = { help: '-', registers: [library] };
        const counter = new Counter({ name: requests, labelNames: ['route', 'method', 'status'], ...common });
        const histogram = new Histogram({ name: seconds, labelNames: ['route'], buckets: requestBuckets, ...common });
        for (const { route, method, status, time } of all) {
          metrics.requests.add(route, method, status, time);
          counter.inc({ route, method, status });
          histogram.observe({ route }, time);
        }
        await expectSame(ours, library, requests, seconds);
      }),
    );
  });

  it('of a request whose time equals the bound of a bucket: it belongs to that bucket', async () => {
    const registry = new Registry();
    apiMetrics(registry).requests.add('/v1/ping/', 'GET', 200, 0.005);
    const bucket = 'runledger_http_request_duration_seconds_bucket';
    const samples = [`${bucket}{le="0.005",route="/v1/ping/"} 1`, `${bucket}{le="0.002",route="/v1/ping/"} 0`];
    expect(await shown(registry, bucket)).to.include.members(samples);
  });

  it('of events and batches', async () => {
    const [accepted, batches] = ['runledger_events_accepted_total', 'runledger_commit_batch_events'];
    const event = fc.record({ kind: fc.constantFrom('START', 'END'), organization: fc.constantFrom('acme', 'globex') });
    const batch = fc.array(event, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 12 }), async (all) => {
        const [ours, library] = [new Registry(), new Registry()];
        const metrics = producerMetrics(ours, () => ({ inFlight: 0, buffered: 0 }));
        const common = { help: '-', registers: [library] };
        const counter = new Counter({ name: accepted, labelNames: ['kind', 'organization'], ...common });
        const histogram = new Histogram({ name: batches, buckets: batchBuckets, ...common });
        for (const events of all) {
          metrics.batchSize.add(events.length);
          histogram.observe(events.length);
          for (const { kind, organization } of events) {
            metrics.accepted.add(organization, kind);
            counter.inc({ kind, organization });
          }
        }
        await expectSame(ours, library, accepted, batches);
      }),
    );
  });

  it('and the load of the producer at the moment of the scrape', async () => {
    const registry = new Registry();
    const load = { inFlight: 0, buffered: 0 };
    producerMetrics(registry, () => load);
    const names = ['runledger_commits_in_flight', 'runledger_events_buffered'];
    expect(await shown(registry, ...names)).to.include.members(names.map((name) => `${name} 0`));
    Object.assign(load, { inFlight: 2, buffered: 30 });
    expect(await shown(registry, ...names)).to.include.members([`${names[0]} 2`, `${names[1]} 30`]);
  });
});
