import { expect } from 'chai';
import { faultTypes, firstEpisodes } from '../support/fault/plan.ts';

describe('plan of faults', () => {
  const take = (seed: number, count: number) => firstEpisodes({ seed }, count);

  it('is the same for the same seed, and another for another', () => {
    expect(take(4_711, 200)).to.deep.equal(take(4_711, 200));
    expect(take(4_711, 200)).to.not.deep.equal(take(4_712, 200));
  });

  it('has every kind of fault, alone and in pairs', () => {
    const kinds = Object.keys(faultTypes);
    const episodes = take(1, 1_000);
    for (const pair of [false, true]) {
      const seen = new Set(
        episodes
          .filter(({ length }) => length > 1 === pair)
          .flat()
          .map(({ kind }) => kind),
      );
      expect([...seen]).to.have.members(kinds);
    }
  });

  it('never strikes one place twice at once', () => {
    for (const [first, second] of take(2, 1_000)) expect(first?.place).to.not.equal(second?.place);
  });
});
