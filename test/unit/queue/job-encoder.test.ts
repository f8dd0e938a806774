import { createZstdCompress, createZstdDecompress, constants } from 'node:zlib';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { decodeJob } from '../../../internal/queue/job.ts';
import { JobEncoder } from '../../../internal/queue/job-encoder.ts';
import { anEvent, someEvent } from '../../support/events.ts';

describe('the encoder of jobs', () => {
  let encoder: JobEncoder;

  beforeEach(() => {
    encoder = new JobEncoder();
  });

  afterEach(() => encoder.close());

  const batch = (size: number) =>
    Array.from({ length: size }, (_, index) =>
      anEvent({ executionId: `2026-11-21T10:${index}`, description: `Invoice ${index * 7919} of 1,204 was posted.` }),
    );

  it('gives back every event as it was, compressed or not, of jobs encoded at once', async () => {
    const forms = new Set<string>();
    const batches = fc.array(fc.array(someEvent, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(batches, async (jobs) => {
        const data = await Promise.all(jobs.map((events) => encoder.encode(events)));
        for (const job of data) forms.add(Object.keys(job).join());
        expect(data.map((job) => decodeJob(JSON.parse(JSON.stringify(job))))).to.deep.equal(jobs);
      }),
    );
    expect(forms).to.deep.equal(new Set(['v,rows', 'v,zstd']));
  });

  it('keeps jobs apart that are larger than what the compressor gives at once', async () => {
    const jobs = [batch(5_000), batch(1), batch(20_000), batch(3)];
    const data = await Promise.all(jobs.map((events) => encoder.encode(events)));
    expect(JSON.stringify(data[2]).length).to.be.greaterThan(3 * 64 * 1_024);
    expect(data.map((job) => decodeJob(job))).to.deep.equal(jobs);
  });

  it('shrinks a batch of usual events to less than half', async () => {
    const events = batch(500);
    const data = JSON.stringify(await encoder.encode(events));
    expect(data.length / events.length).to.be.lessThan(120);
    expect(data.length).to.be.lessThan(JSON.stringify(events).length / 2);
  });

  it('rejects what is under way when it is closed, and begins anew after it', async () => {
    const underWay = encoder.encode(batch(5_000));
    encoder.close();
    expect(await failureOf(underWay)).to.be.instanceOf(Error);
    const events = batch(2);
    expect(decodeJob(await encoder.encode(events))).to.deep.equal(events);
  });

  it('rejects what is under way and what waits when the compressor fails, and begins anew after it', async () => {
    // A compressor fails when memory is short, which cannot be shown. A decompressor fails in the same way, on any text.
    const compressors = [createZstdDecompress(), createZstdCompress({ flush: constants.ZSTD_e_end })];
    encoder = new JobEncoder(() => compressors.shift() ?? createZstdDecompress());
    const failures = await Promise.all([encoder.encode(batch(3)), encoder.encode(batch(4))].map(failureOf));
    for (const failure of failures) expect(failure).to.be.instanceOf(Error);
    const events = batch(2);
    expect(decodeJob(await encoder.encode(events))).to.deep.equal(events);
  });
});

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}
