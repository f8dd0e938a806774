import { expect } from 'chai';
import { inTurns } from '../../../internal/kit/async/in-turns.ts';

describe('turns of organizations', () => {
  it('begin with some items of each, so that none waits for all of another one', () => {
    const of = (organization: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ organization, index }));
    const turns = inTurns([...of('a', 7), ...of('b', 1), ...of('c', 3)], 3);
    const told = turns.map(({ items, isFirst }) => [
      isFirst,
      items.map(({ organization, index }) => `${organization}${index}`).join(' '),
    ]);
    expect(told).to.deep.equal([
      [true, 'a0 a1 a2'],
      [true, 'b0 c0 c1'],
      [true, 'c2'],
      [false, 'a3 a4 a5'],
      [false, 'a6'],
    ]);
    expect(inTurns([], 3)).to.deep.equal([]);
  });
});
