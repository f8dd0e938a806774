import { createZstdDecompress } from 'node:zlib';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { Compression, createCompressor, createDecompressor } from '../../../internal/queue/compression.ts';
import { JobDecoder } from '../../../internal/queue/job-decoder.ts';
import { JobEncoder } from '../../../internal/queue/job-encoder.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';

const batch = (size: number) =>
  Array.from({ length: size }, (_, index) =>
    anEvent({ executionId: `2026-11-21T10:${index}`, description: `Invoice ${index * 7919} of 1,204 was posted.` }),
  );

describe('the encoder of jobs', () => {
  let encoder: JobEncoder;
  let decoder: JobDecoder;

  beforeEach(() => {
    encoder = new JobEncoder();
    decoder = new JobDecoder();
  });

  afterEach(() => {
    encoder.close();
    decoder.close();
  });

  it('packs every event so that it is read as it was, compressed or not, of jobs handled at once', async () => {
    const forms = new Set<string>();
    const batches = fc.array(fc.array(someEvent, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(batches, async (jobs) => {
        const data = await Promise.all(jobs.map((events) => encoder.encode(events)));
        for (const job of data) forms.add(Object.keys(job).join());
        const stored = data.map((job): unknown => JSON.parse(JSON.stringify(job)));
        expect(await Promise.all(stored.map((job) => decoder.decode(job)))).to.deep.equal(jobs);
      }),
    );
    expect(forms).to.deep.equal(new Set(['v,rows', 'v,zstd']));
  });

  it('keeps jobs apart that are larger than what the compressor gives at once', async () => {
    const jobs = [batch(5_000), batch(1), batch(20_000), batch(3)];
    const data = await Promise.all(jobs.map((events) => encoder.encode(events)));
    expect(JSON.stringify(data[2]).length).to.be.greaterThan(3 * 64 * 1_024);
    expect(await Promise.all(data.map((job) => decoder.decode(job)))).to.deep.equal(jobs);
  });

  it('shrinks a batch of usual events to less than half', async () => {
    const events = batch(500);
    const data = JSON.stringify(await encoder.encode(events));
    expect(data.length / events.length).to.be.lessThan(120);
    expect(data.length).to.be.lessThan(JSON.stringify(events).length / 2);
  });

  it('rejects what is under way when it is closed, and all that follows', async () => {
    const underWay = encoder.encode(batch(5_000));
    encoder.close();
    expect(await failureOf(underWay)).to.be.instanceOf(Error);
    expect(await failureOf(encoder.encode(batch(1)))).to.be.instanceOf(Error);
  });
});

describe('compression', () => {
  const asText = (output: Buffer): string => output.toString();

  // A compressor fails when memory is short, which cannot be shown. A decompressor fails in the same way, on any text.
  it('tries again in a new stream when one fails, and rejects when that fails too', async () => {
    const failsFirst = [createZstdDecompress()];
    const compressing = new Compression(() => failsFirst.shift() ?? createCompressor());
    const frame = await compressing.run('a text', (output) => output);
    const decompressing = new Compression(createDecompressor);
    expect(await decompressing.run(frame, asText)).to.equal('a text');
    compressing.close();
    decompressing.close();

    const failing = new Compression(createZstdDecompress);
    const failures = await Promise.all(['one', 'two'].map((text) => failureOf(failing.run(text, asText))));
    failing.close();
    expect(failures.map((failure) => (failure as NodeJS.ErrnoException).code)).to.deep.equal(
      Array(2).fill('ZSTD_error_prefix_unknown'),
    );
  });
});
