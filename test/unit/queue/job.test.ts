import { zstdCompressSync } from 'node:zlib';
import { expect } from 'chai';
import { UnreadableJob } from '../../../internal/queue/job.ts';
import { Decompression } from '../../../internal/queue/decompression.ts';
import { JobDecoder } from '../../../internal/queue/job-decoder.ts';
import { encodeJob } from '../../../internal/queue/job-encoder.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';

describe('job data', () => {
  let decoder: JobDecoder;

  beforeEach(() => {
    decoder = new JobDecoder();
  });

  afterEach(() => decoder.close());

  const row = ['id', 1, 'acme', 'automation', 'run', 'START', '', '', ''];
  const unreadable: Record<string, unknown> = {
    'a newer version': { v: 3, rows: [row] },
    'version 2 without the time': { v: 2, rows: [row] },
    'version 2 with a time out of range': { v: 2, rows: [[-1, ...row]] },
    'no version': { rows: [row] },
    nothing: undefined,
    'no rows': { v: 1 },
    'rows that are not a list': { v: 1, rows: 'START' },
    'a row that is not a list': { v: 1, rows: [row, null] },
    'a row that ends early': { v: 1, rows: [row.slice(0, 8)] },
    'a time that is not a number': { v: 1, rows: [row.with(1, 'now')] },
    'a time out of range': { v: 1, rows: [row.with(1, 1e15)] },
    'a text that is a number': { v: 1, rows: [row.with(6, 7)] },
    'digests of other events': { v: 1, rows: [row], digests: 'a'.repeat(86) },
    'damaged base64': { v: 1, zstd: '!!!' },
    'damaged compression': { v: 1, zstd: Buffer.from('no zstd').toString('base64') },
  };
  for (const [name, data] of Object.entries(unreadable)) {
    it(`cannot be read: ${name}`, async () => {
      expect(await failureOf(decoder.decode(data))).to.be.instanceOf(UnreadableJob);
    });
  }

  it('whose frame claims 1 GB cannot be read, and takes no memory for it', async () => {
    // Magic number, a content size of 8 bytes in one segment, nearly 1 GB, an empty last block (RFC
    // 8878, section 3.1.1).
    const frame = Buffer.from('28b52ffde00000003000000000010000', 'hex');
    const before = process.memoryUsage();
    const failure = await failureOf(decoder.decode({ v: 1, zstd: frame.toString('base64') }));
    expect(failure).to.be.instanceOf(UnreadableJob);
    expect(process.memoryUsage().external - before.external).to.be.below(100_000_000);
  });

  it('that grows past the bound cannot be read, and takes no memory for it', async () => {
    const mebi = 1_024 * 1_024;
    const bomb = zstdCompressSync(Buffer.alloc(256 * mebi));
    const decompression = new Decompression(undefined, mebi);
    try {
      const before = process.memoryUsage();
      const failure = await failureOf(decompression.run(bomb, (output) => output.length));
      expect(failure).to.have.property('message', `the frame holds more than ${mebi} bytes`);
      expect(process.memoryUsage().external - before.external).to.be.below(64 * mebi);
      const events = [anEvent()];
      const text = Buffer.from(JSON.stringify(events));
      expect(await decompression.run(zstdCompressSync(text), String)).to.equal(String(text));
    } finally {
      decompression.close();
    }
  });

  it('ignores columns that a later minor release may append', async () => {
    const [event] = await decoder.decode({ v: 1, rows: [[...row, 'new']] });
    expect(event).to.include({ id: 'id', kind: 'START' });
  });

  it('gives each event its digest, but not that of a later release, which knows a text more of it', async () => {
    const own = ['a'.repeat(43), 'b'.repeat(43)];
    const read = async (v: number, rows: unknown[][]) => {
      const events = await decoder.decode({ v, rows, digests: own.join('') });
      return events.map(({ digest }) => digest);
    };
    expect(await read(1, [row, row])).to.deep.equal(own);
    expect(
      await read(2, [
        [null, ...row],
        [5, ...row],
      ]),
    ).to.deep.equal(own);
    expect(await read(1, [row, [...row, '']])).to.deep.equal(own);
    expect(
      await read(2, [
        [null, ...row, ''],
        [5, ...row],
      ]),
    ).to.deep.equal(own);
    expect(await read(1, [row, [...row, 'new']])).to.deep.equal([undefined, undefined]);
    expect(
      await read(2, [
        [null, ...row, 'new'],
        [5, ...row],
      ]),
    ).to.deep.equal([undefined, undefined]);
  });

  it('with an empty frame at its end, as Node may write it, harms neither itself nor the job that is read next', async () => {
    const events = Array.from({ length: 20 }, () => anEvent());
    const data = encodeJob(events);
    const frames = [Buffer.from('zstd' in data ? data.zstd : '', 'base64'), zstdCompressSync('')];
    const followed = { v: 1, zstd: Buffer.concat(frames).toString('base64') };
    const read = await Promise.all([followed, data, followed].map((job) => decoder.decode(job)));
    expect(read).to.deep.equal([events, events, events]);
  });

  it('that ends anywhere before its end does not harm the job that is read next', async () => {
    const events = Array.from({ length: 20 }, () => anEvent());
    const data = encodeJob(events);
    const frame = Buffer.from('zstd' in data ? data.zstd : '', 'base64');
    expect(frame).to.have.length.above(100);
    for (let length = 0; length < frame.length; length += 1) {
      const damaged = { v: 1, zstd: frame.subarray(0, length).toString('base64') };
      const [failure, next] = await Promise.all([failureOf(decoder.decode(damaged)), decoder.decode(data)]);
      // Without its last bytes a frame may hold everything all the same.
      if (length < frame.length - 8) expect(failure).to.be.instanceOf(UnreadableJob);
      expect(next).to.deep.equal(events);
    }
  });
});
