import { expect } from 'chai';
import { depthOf } from '../../../internal/event/depth.ts';

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
      expect(depthOf(value, 32)).to.equal(depth);
    });
  }

  it('is not counted past the limit, nor by recursion', () => {
    const deep: unknown = JSON.parse('['.repeat(130_000) + ']'.repeat(130_000));
    expect(depthOf(deep, 32)).to.equal(33);
    expect(depthOf(deep, 200_000)).to.equal(130_000);
  });
});
