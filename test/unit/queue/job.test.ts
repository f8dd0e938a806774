import { zstdCompressSync } from 'node:zlib';
import { compress } from '@cloudpss/zstd';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { optionalFields } from '../../../internal/event/fields.ts';
import { sealOf } from '../../../internal/event/digest.ts';
import { checksumOf, DamagedJob, UnknownFormat } from '../../../internal/queue/job/job.ts';
import { JobDecoder } from '../../../internal/queue/job/job-decoder.ts';
import { compressedJob, encodeJob } from '../../../internal/queue/job/job-encoder.ts';
import { parseRows } from '../../../internal/queue/job/parse-rows.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';

/** A job with the right checksum, whatever it holds. */
function signed(data: { rows?: unknown; zstd?: string; seals?: string }): Record<string, unknown> {
  return { v: 1, sum: checksumOf(data.zstd ?? JSON.stringify(data.rows), data.seals), ...data };
}

/** A frame as ingest makes it. */
function frameOf(text: string | Buffer): Buffer {
  return Buffer.from(compress(Buffer.from(text), 1));
}

function packed(rows: unknown): Record<string, unknown> {
  return signed({ zstd: frameOf(JSON.stringify(rows)).toString('base64') });
}

/** A sound frame, as Node writes it without `pledgedSrcSize`. */
const unsized = Buffer.from('28b52ffd00485400001061610100', 'hex');

describe('job data', () => {
  let decoder: JobDecoder;

  beforeEach(() => {
    decoder = new JobDecoder();
  });

  afterEach(() => decoder.close());

  const decode = async (data: unknown): Promise<AcceptedEvent[]> =>
    decoder.open(typeof data === 'string' ? data : (JSON.stringify(data) ?? '')).events();

  const row = ['id', 1, null, 'acme', 'automation', 'run', 'START', ...optionalFields.map(() => '')];
  const damaged: Record<string, unknown> = {
    'no version': { ...signed({ rows: [row] }), v: undefined },
    'no checksum': { v: 1, rows: [row] },
    'the checksum of other rows': { ...signed({ rows: [row] }), rows: [row.with(7, 'x')] },
    'the checksum of other seals': { ...signed({ rows: [row] }), seals: 'a'.repeat(65) },
    nothing: undefined,
    null: null,
    'half of its JSON': '{"v":1,"rows":[',
    'no rows': signed({ zstd: '' }),
    'rows that are not a list': signed({ rows: 'START' }),
    'a row that is not a list': signed({ rows: [row, null] }),
    'a row that ends early': signed({ rows: [row.slice(0, 9)] }),
    'a time that is not a number': signed({ rows: [row.with(1, 'now')] }),
    'a time out of range': signed({ rows: [row.with(1, 1e15)] }),
    'a time of occurrence out of range': signed({ rows: [row.with(2, -1)] }),
    'a text that is a number': signed({ rows: [row.with(7, 7)] }),
    'seals of other events': signed({ rows: [row], seals: 'a'.repeat(130) }),
    'damaged base64': signed({ zstd: '!!!' }),
    'damaged compression': signed({ zstd: Buffer.from('no zstd').toString('base64') }),
    'a frame that does not say its size': signed({ zstd: unsized.toString('base64') }),
  };
  for (const [name, data] of Object.entries(damaged)) {
    it(`is damaged: ${name}`, async () => {
      expect(await failureOf(decode(data))).to.be.instanceOf(DamagedJob);
    });
  }

  it('is not made of a frame that does not say its size', () => {
    expect(() => compressedJob(unsized.toString('base64'))).to.throw('does not say how large');
  });

  it('of another version is of another release', async () => {
    expect(await failureOf(decode({ v: 2, rows: [row] }))).to.be.instanceOf(UnknownFormat);
  });

  it('says before it is unpacked how much memory its events will take', () => {
    for (const size of [200, 1_000, 70_000, 1_000_000]) {
      const zstd = frameOf('x'.repeat(size)).toString('base64');
      expect(decoder.open(JSON.stringify(signed({ zstd }))).bytes).to.equal(2 * size);
    }
    // Magic number, a content size of 8 bytes in one segment, nearly 1 GB, an empty last block (RFC
    // 8878, section 3.1.1).
    const zstd = Buffer.from('28b52ffde00000003000000000010000', 'hex').toString('base64');
    expect(decoder.open(JSON.stringify(signed({ zstd }))).bytes).to.equal(2 * 0x3000_0000);
    const plain = JSON.stringify([row]);
    expect(decoder.open(JSON.stringify(signed({ rows: [row] }))).bytes).to.equal(2 * plain.length);
  });

  it('that grows past the size it claims is damaged, and takes no memory for it', async () => {
    const mebi = 1_024 * 1_024;
    const frame = zstdCompressSync(Buffer.alloc(256 * mebi));
    // One segment of 256 bytes at most, where the frame had a window and no size.
    const claiming = Buffer.concat([frame.subarray(0, 4), Buffer.from([0x20, 0xff]), frame.subarray(6)]);
    const before = process.memoryUsage();
    const failure = await failureOf(decode(signed({ zstd: claiming.toString('base64') })));
    expect(failure).to.be.instanceOf(DamagedJob);
    expect(process.memoryUsage().external - before.external).to.be.below(64 * mebi);
    expect(await decode(encodeJob([anEvent({ description: 'next' })]))).to.have.length(1);
  });

  it('with one bit flipped is refused, or holds the same events', async () => {
    const jobs = fc.tuple(fc.array(someEvent, { minLength: 1, maxLength: 30 }), fc.boolean(), fc.nat());
    const seen = { refused: 0, same: 0 };
    await fc.assert(
      fc.asyncProperty(jobs, async ([given, seals, place]) => {
        const events = given.map((event) => (seals ? { ...event, seal: sealOf(event) } : event));
        const bytes = Buffer.from(JSON.stringify(encodeJob(events)));
        const bit = place % (bytes.length * 8);
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        const read = await decode(bytes.toString()).catch((error: unknown) => error);
        if (read instanceof DamagedJob || read instanceof UnknownFormat) seen.refused += 1;
        else {
          expect(read).to.deep.equal(events);
          seen.same += 1;
        }
      }),
      { numRuns: 2_000 },
    );
    expect(seen.refused).to.be.above(1_500);
  });

  it('with a text or a kind that only a later release knows is of another release', async () => {
    const later: Record<string, unknown> = {
      'a text': [...row, '', 'new'],
      'a value that is no text': [...row, 7],
      'a kind': row.with(6, 'PAUSE'),
    };
    for (const [name, unknown] of Object.entries(later)) {
      for (const data of [signed({ rows: [row, unknown] }), packed([row, unknown])])
        expect(await failureOf(decode(data)), name).to.be.instanceOf(UnknownFormat);
    }
    const [event] = await decode(signed({ rows: [[...row, '', '']] }));
    expect(event).to.include({ id: 'id', kind: 'START' });
  });

  it('gives each event its seal, also that of a later release, which has a field more', async () => {
    const own = ['a'.repeat(64), 'b'.repeat(64)];
    const events = await decode(signed({ rows: [row.with(2, 5), [...row, '']], seals: own.join('') }));
    expect(events.map(({ seal }) => seal)).to.deep.equal(own);
  });

  it('with an empty frame at its end, as Node may write it, harms neither itself nor the job that is read next', async () => {
    const events = Array.from({ length: 20 }, () => anEvent());
    const data = encodeJob(events);
    const frames = [Buffer.from('zstd' in data ? data.zstd : '', 'base64'), zstdCompressSync('')];
    const followed = signed({ zstd: Buffer.concat(frames).toString('base64') });
    expect(await Promise.all([followed, data, followed].map(decode))).to.deep.equal([events, events, events]);
  });

  it('that ends anywhere before its end does not harm the job that is read next', async () => {
    const events = Array.from({ length: 20 }, () => anEvent());
    const data = encodeJob(events);
    const frame = Buffer.from('zstd' in data ? data.zstd : '', 'base64');
    expect(frame).to.have.length.above(100);
    for (let length = 0; length < frame.length; length += 1) {
      const cut = signed({ zstd: frame.subarray(0, length).toString('base64') });
      const [failure, next] = await Promise.all([failureOf(decode(cut)), decode(data)]);
      // Without its last bytes a frame may hold everything all the same.
      if (length < frame.length - 8) expect(failure).to.be.instanceOf(DamagedJob);
      expect(next).to.deep.equal(events);
    }
  });

  it('is parsed row by row as it is at once', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\\"', '],["', ']', '[', '✓'));
    const rows = fc.array(fc.array(fc.oneof(text, fc.integer(), fc.constant(null)), { minLength: 1 }));
    fc.assert(
      fc.property(rows, (given) => {
        const content = Buffer.from(JSON.stringify(given));
        expect(parseRows(content, 0)).to.deep.equal(parseRows(content));
      }),
      { numRuns: 1_000 },
    );
  });
});
