import { expect } from 'chai';
import * as fc from 'fast-check';
import { Backoff } from '../../../internal/kit/async/backoff.ts';

describe('backoff', () => {
  it('grows from the first pause to the longest, each between half and all of its most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (attempts) => {
        const backoff = new Backoff({ firstMs: 1000, longestMs: 30_000 });
        for (let attempt = 0; attempt < attempts; attempt += 1) {
          const most = Math.min(30_000, 1000 * 2 ** attempt);
          expect(backoff.next()).to.be.within(most / 2, most);
        }
      }),
    );
  });

  it('is not the same for every pod', () => {
    const pauses = Array.from({ length: 20 }, () => new Backoff({ firstMs: 1000, longestMs: 30_000 }).next());
    expect(new Set(pauses).size).to.be.greaterThan(1);
  });

  it('begins again after a reset', () => {
    const backoff = new Backoff({ firstMs: 1000, longestMs: 30_000 });
    for (let attempt = 0; attempt < 10; attempt += 1) backoff.next();
    backoff.reset();
    expect(backoff.next()).to.be.at.most(1000);
  });
});
