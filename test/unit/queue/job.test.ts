import { expect } from 'chai';
import { decodeJob, UnreadableJob } from '../../../internal/queue/job.ts';

describe('job data', () => {
  const row = ['id', 1, 'acme', 'automation', 'run', 'START', '', '', ''];
  const unreadable: Record<string, unknown> = {
    'a newer version': { v: 2, rows: [row] },
    'no version': { rows: [row] },
    nothing: undefined,
    'no rows': { v: 1 },
    'rows that are not a list': { v: 1, rows: 'START' },
    'a row that is not a list': { v: 1, rows: [row, null] },
    'a row that ends early': { v: 1, rows: [row.slice(0, 8)] },
    'a time that is not a number': { v: 1, rows: [row.with(1, 'now')] },
    'a time out of range': { v: 1, rows: [row.with(1, 1e15)] },
    'a text that is a number': { v: 1, rows: [row.with(6, 7)] },
    'damaged base64': { v: 1, zstd: '!!!' },
    'damaged compression': { v: 1, zstd: Buffer.from('no zstd').toString('base64') },
  };
  for (const [name, data] of Object.entries(unreadable)) {
    it(`cannot be read: ${name}`, () => {
      expect(() => decodeJob(data)).to.throw(UnreadableJob);
    });
  }

  it('ignores columns that a later minor release may append', () => {
    const [event] = decodeJob({ v: 1, rows: [[...row, 'new']] });
    expect(event).to.include({ id: 'id', kind: 'START' });
  });
});
