import { expect } from 'chai';
import { isDeeperThan } from '../../../internal/event/depth.ts';

describe('depth', () => {
  for (const [value, depth] of [
    [1, 0],
    ['x', 0],
    [null, 0],
    [undefined, 0],
    [[], 1],
    [{}, 1],
    [{ a: 1, b: null }, 1],
    [[1, [2]], 2],
    [{ a: [], b: { c: [{}] } }, 4],
    [JSON.parse('{"__proto__":{"a":[]}}'), 3],
  ] as const) {
    it(`of ${JSON.stringify(value)} is ${depth}`, () => {
      expect(isDeeperThan(depth, value)).to.equal(false);
      if (depth > 0) expect(isDeeperThan(depth - 1, value)).to.equal(true);
    });
  }

  it('is checked up to the limit only, so that deep values cannot overflow the stack', () => {
    const deep: unknown = JSON.parse('['.repeat(130_000) + ']'.repeat(130_000));
    expect(isDeeperThan(32, deep)).to.equal(true);
  });
});
