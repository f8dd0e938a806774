import { expect } from 'chai';
import * as fc from 'fast-check';
import { apiMetrics } from '../../../internal/telemetry/api-metrics.ts';
import { Counter, Histogram, Registry, requestBuckets } from '../../../internal/telemetry/metrics.ts';

const requests = 'runledger_http_requests_total';
const seconds = 'runledger_http_request_duration_seconds';

async function typesOf(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('# TYPE'));
}

/** What a scrape shows of two metrics: their samples, without regard to order. */
async function samplesOf(registry: Registry): Promise<string[]> {
  const page = await registry.metrics();
  return page
    .split('\n')
    .filter((line) => line.startsWith(requests) || line.startsWith(seconds))
    .sort();
}

describe('request tally', () => {
  it("shows what the library's own counter and histogram would", async () => {
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
        const registers = [library];
        const labelNames = ['route', 'method', 'status'];
        const counter = new Counter({ name: requests, help: '-', labelNames, registers });
        const histogram = new Histogram({
          name: seconds,
          help: '-',
          labelNames: ['route'],
          buckets: requestBuckets,
          registers,
        });
        for (const { route, method, status, time } of all) {
          metrics.requests.add(route, method, status, time);
          counter.inc({ route, method, status });
          histogram.observe({ route }, time);
        }
        expect(await samplesOf(ours)).to.deep.equal(await samplesOf(library));
        expect(await samplesOf(ours), 'a second scrape').to.deep.equal(await samplesOf(library));
        expect(await typesOf(ours)).to.include.members(await typesOf(library));
      }),
    );
  });

  it('puts a time that equals a bound into the bucket of that bound', async () => {
    const registry = new Registry();
    apiMetrics(registry).requests.add('/v1/ping/', 'GET', 200, 0.005);
    const samples = await samplesOf(registry);
    expect(samples).to.include(`${seconds}_bucket{le="0.005",route="/v1/ping/"} 1`);
    expect(samples).to.include(`${seconds}_bucket{le="0.002",route="/v1/ping/"} 0`);
  });
});
