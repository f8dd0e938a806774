import { expect } from 'chai';
import { SharedReads } from '../../../internal/console/shared-reads.ts';

describe('shared reads', () => {
  it('are one read for all who ask within the time, by key', async () => {
    let now = 0;
    let reads = 0;
    const shared = new SharedReads<number>(2_000, () => now);
    const ask = (key = 'acme'): Promise<number> => shared.get(key, () => Promise.resolve((reads += 1)));
    expect(await Promise.all([ask(), ask(), ask('globex')])).to.deep.equal([1, 1, 2]);
    now = 1_999;
    expect(await ask()).to.equal(1);
    now = 2_000;
    expect(await ask()).to.equal(3);
  });

  it('share no failure', async () => {
    const shared = new SharedReads<number>(2_000, () => 0);
    const failed = await shared.get('acme', () => Promise.reject(new Error('away'))).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    expect(await shared.get('acme', () => Promise.resolve(7))).to.equal(7);
  });
});
