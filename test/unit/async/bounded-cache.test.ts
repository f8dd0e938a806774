import { expect } from 'chai';
import { BoundedCache } from '../../../internal/kit/async/bounded-cache.ts';

describe('a bounded cache', () => {
  it('keeps what was used last, up to its weight, also after a large value came while others loaded', async () => {
    const cache = new BoundedCache<number>(10, (value) => value);
    const slow = Promise.withResolvers<number>();
    const loading = cache.get('slow', () => slow.promise);
    await cache.get('large', () => Promise.resolve(50));
    slow.resolve(4);
    await loading;
    const loads: string[] = [];
    const get = (key: string, value: number) =>
      cache.get(key, () => {
        loads.push(key);
        return Promise.resolve(value);
      });
    for (const key of ['slow', 'a', 'slow', 'a', 'b', 'slow', 'a']) await get(key, 4);
    expect(loads).to.deep.equal(['a', 'b', 'slow', 'a']);
  });

  it('shares a value that is loading, and tries again after a failure', async () => {
    const cache = new BoundedCache<number>(10, () => 1);
    let loads = 0;
    const fail = () => {
      loads += 1;
      return Promise.reject(new Error('away'));
    };
    const both = await Promise.allSettled([cache.get('key', fail), cache.get('key', fail)]);
    expect(both.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(loads).to.equal(1);
    expect(await cache.get('key', () => Promise.resolve(7))).to.equal(7);
  });
});
