import { expect } from 'chai';
import * as fc from 'fast-check';
import { decodeJob, encodeJob, UnreadableJob } from '../../../internal/queue/job.ts';
import { anEvent, someEvent } from '../../support/events.ts';

describe('job data', () => {
  it('gives back every event as it was, compressed or not', () => {
    const forms = new Set<string>();
    fc.assert(
      fc.property(fc.array(someEvent, { minLength: 1, maxLength: 60 }), (events) => {
        const data = encodeJob(events);
        forms.add(Object.keys(data).join());
        expect(decodeJob(JSON.parse(JSON.stringify(data)))).to.deep.equal(events);
      }),
    );
    expect(forms).to.deep.equal(new Set(['v,rows', 'v,zstd']));
  });

  it('shrinks a batch of usual events to less than half', () => {
    const events = Array.from({ length: 500 }, (_, index) =>
      anEvent({ executionId: `2026-11-21T10:${index}`, description: `Invoice ${index * 7919} of 1,204 was posted.` }),
    );
    const data = JSON.stringify(encodeJob(events));
    expect(data.length / events.length).to.be.lessThan(120);
    expect(data.length).to.be.lessThan(JSON.stringify(events).length / 2);
  });

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
