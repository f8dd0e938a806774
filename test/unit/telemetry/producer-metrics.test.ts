import { expect } from 'chai';
import * as fc from 'fast-check';
import { batchBuckets, Counter, Histogram, Registry } from '../../../internal/telemetry/metrics.ts';
import { producerMetrics } from '../../../internal/telemetry/producer-metrics.ts';

const accepted = 'runledger_events_accepted_total';
const batches = 'runledger_commit_batch_events';

/** What a scrape shows of some metrics: their samples, without regard to order. */
async function samplesOf(registry: Registry, ...names: string[]): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => names.some((name) => line.startsWith(name))).sort();
}

describe('metrics of the producer', () => {
  it("show what the library's own counter and histogram would", async () => {
    const event = fc.record({ kind: fc.constantFrom('START', 'END'), organization: fc.constantFrom('acme', 'globex') });
    const batch = fc.array(event, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 12 }), async (all) => {
        const [ours, library] = [new Registry(), new Registry()];
        const metrics = producerMetrics(ours, () => ({ inFlight: 0, buffered: 0 }));
        const registers = [library];
        const counter = new Counter({ name: accepted, help: '-', labelNames: ['kind', 'organization'], registers });
        const histogram = new Histogram({ name: batches, help: '-', buckets: batchBuckets, registers });
        for (const events of all) {
          metrics.batchSize.add(events.length);
          histogram.observe(events.length);
          for (const { kind, organization } of events) {
            metrics.accepted.add(organization, kind);
            counter.inc({ kind, organization });
          }
        }
        const expected = await samplesOf(library, accepted, batches);
        expect(await samplesOf(ours, accepted, batches)).to.deep.equal(expected);
        expect(await samplesOf(ours, accepted, batches), 'a second scrape').to.deep.equal(expected);
      }),
    );
  });

  it('show the load of the moment they are asked', async () => {
    const registry = new Registry();
    const load = { inFlight: 0, buffered: 0 };
    producerMetrics(registry, () => load);
    const [inFlight, buffered] = ['runledger_commits_in_flight', 'runledger_events_buffered'];
    expect(await samplesOf(registry, inFlight, buffered)).to.deep.equal([`${inFlight} 0`, `${buffered} 0`]);
    Object.assign(load, { inFlight: 2, buffered: 30 });
    expect(await samplesOf(registry, inFlight, buffered)).to.deep.equal([`${inFlight} 2`, `${buffered} 30`]);
  });
});
