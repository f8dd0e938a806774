import { hash } from 'node:crypto';
import { Transform } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { compress, TYPE } from '@cloudpss/zstd';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { createDecompressor, Decompression } from '../../../internal/queue/job/decompression.ts';
import { JobDecoder } from '../../../internal/queue/job/job-decoder.ts';
import { readSeals, saltSize, sealOf, sealSize } from '../../../internal/event/digest.ts';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { textsOf } from '../../../internal/event/fields.ts';
import { DamagedJob, type JobData } from '../../../internal/queue/job/job.ts';
import { encodeJob, encodeLargeJob } from '../../../internal/queue/job/job-encoder.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';

const batch = (size: number) =>
  Array.from({ length: size }, (_, index) =>
    anEvent({ executionId: `2026-11-21T10:${index}`, description: `Invoice ${index * 7919} of 1,204 was posted.` }),
  );

/** Events with seals of the salts that they have in `read`. */
function sealedAs(read: readonly AcceptedEvent[], events: readonly AcceptedEvent[]): AcceptedEvent[] {
  const seals = readSeals(read.map(({ seal = '' }) => seal));
  const saltAt = (at: number): Buffer => seals.subarray(at * sealSize, at * sealSize + saltSize);
  const isEmpty = (event: AcceptedEvent): boolean => textsOf(event).every((text) => text === '');
  return events.map((event, at) => ({ ...event, seal: sealOf(event, isEmpty(event) ? undefined : saltAt(at)) }));
}

describe('the encoder of jobs', () => {
  let decoder: JobDecoder;

  beforeEach(() => {
    decoder = new JobDecoder();
  });

  afterEach(() => decoder.close());

  const decode = (job: JobData) => decoder.open(JSON.stringify(job)).events();

  it('packs every event so that it is read as it was, compressed or not, of jobs handled at once', async () => {
    const forms = new Set<string>();
    const batches = fc.array(fc.array(someEvent, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(batches, async (jobs) => {
        const data = jobs.map((events) => encodeJob(events));
        for (const job of data) forms.add(Object.keys(job).join());
        expect(await Promise.all(data.map(decode))).to.deep.equal(jobs);
      }),
    );
    expect(forms).to.deep.equal(new Set(['v,sum,rows', 'v,sum,zstd']));
  });

  it('leaves out the rows that Redis lists, and notices a damaged list', async () => {
    const events = batch(4);
    const left = { without: [1, 3], withoutSum: hash('sha1', '1,3') };
    expect(await decode({ ...encodeJob(events), ...left })).to.deep.equal([events[0], events[2]]);
    const damaged: Pick<JobData, 'without' | 'withoutSum'>[] = [
      { ...left, without: [1, 2] },
      { without: [1, 3] },
      { withoutSum: left.withoutSum },
    ];
    for (const list of damaged)
      expect(() => decode({ ...encodeJob(events), ...list })).to.throw(DamagedJob, 'checksum of the job');
  });

  it('packs events that take much memory in steps, so that they are read as they were', async () => {
    const long = fc.tuple(someEvent, fc.nat(200_000)).map(([event, length]) => {
      return { ...event, errorDescription: `${event.errorDescription}${'x'.repeat(length)}` };
    });
    await fc.assert(
      fc.asyncProperty(fc.array(long, { minLength: 1, maxLength: 6 }), fc.boolean(), async (events, seals) => {
        const read = await decode(await encodeLargeJob(events, { seals }));
        expect(read).to.deep.equal(seals ? sealedAs(read, events) : events);
      }),
      { numRuns: 20 },
    );
  });

  it('packs the seals of events when it is asked to, and again those that events came with', async () => {
    const read = async (...given: Parameters<typeof encodeJob>) => decode(encodeJob(...given));
    const batches = fc.array(someEvent, { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(batches, async (events) => {
        const once = await read(events, { seals: true });
        expect(once).to.deep.equal(sealedAs(once, events));
        const changed = once.map((event) => ({ ...event, description: `${event.description}!` }));
        expect(await read(changed)).to.deep.equal(changed);
        const mixed = await read(events.map((event, at) => (at === 0 ? (once[0] ?? event) : event)));
        expect(mixed[0]).to.deep.equal(once[0]);
        expect(mixed).to.deep.equal(sealedAs(mixed, events));
      }),
    );
  });

  it('keeps jobs apart that are larger than what the decompressor gives at once', async () => {
    const jobs = [batch(5_000), batch(1), batch(20_000), batch(3)];
    const data = jobs.map((events) => encodeJob(events));
    expect(JSON.stringify(data[2]).length).to.be.greaterThan(3 * 64 * 1_024);
    expect(await Promise.all(data.map(decode))).to.deep.equal(jobs);
  });

  it('shrinks a batch of usual events to less than half', async () => {
    const events = batch(500);
    const data = JSON.stringify(encodeJob(events));
    expect(data.length / events.length).to.be.lessThan(120);
    expect(data.length).to.be.lessThan(JSON.stringify(events).length / 2);
  });

  it('compresses by native code, which takes a fifth of what WebAssembly does', () => {
    expect(TYPE).to.equal('napi');
  });
});

describe('the decoder of jobs', () => {
  it('rejects what is under way when it is closed, and all that follows', async () => {
    const decoder = new JobDecoder();
    const [large, small] = [encodeJob(batch(5_000)), encodeJob(batch(50))].map((job) =>
      decoder.open(JSON.stringify(job)),
    );
    const underWay = large?.events();
    decoder.close();
    expect(await failureOf(Promise.resolve(underWay))).to.be.instanceOf(Error);
    expect(await failureOf(Promise.resolve(small?.events()))).to.be.instanceOf(Error);
  });
});

describe('decompression', () => {
  const asText = (output: Buffer): string => output.toString();

  // A decompressor that fails though the frame is sound is short of memory, which cannot be shown.
  it('tries again in a new stream when one fails, and rejects when that fails too', async () => {
    const failing = new Transform({ transform: (_chunk, _encoding, done) => done(new Error('memory is short')) });
    const streams = [failing];
    const decompression = new Decompression(() => streams.shift() ?? createDecompressor());
    expect(await decompression.run(Buffer.from(compress(Buffer.from('a text'))), asText)).to.equal('a text');
    decompression.close();
    expect(failing.destroyed).to.equal(true);

    const unable = new Decompression(createZstdDecompress);
    const failures = await Promise.all(
      [1, 2].map(() => failureOf(unable.run(Buffer.from('28b52ffd2005ffffff', 'hex'), asText))),
    );
    unable.close();
    expect(failures.map((failure) => (failure as NodeJS.ErrnoException).code)).to.deep.equal(
      Array(2).fill('ZSTD_error_corruption_detected'),
    );
  });
});
