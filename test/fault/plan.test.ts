import { expect } from 'chai';
import { faultTypes, firstEpisodes } from '../support/fault/plan.ts';

describe('plan of faults', () => {
  const take = (seed: number, count: number) => firstEpisodes({ seed }, count);

  it('is the same for the same seed, and another for another', () => {
    expect(take(4_711, 200)).to.deep.equal(take(4_711, 200));
    expect(take(4_711, 200)).to.not.deep.equal(take(4_712, 200));
  });

  it('has every kind of fault, alone and in pairs that strike two places', () => {
    const episodes = take(1, 1_000);
    const kindsOf = (size: number) =>
      episodes.filter(({ length }) => length === size).flatMap((all) => all.map(({ kind }) => kind));
    for (const size of [1, 2]) expect([...new Set(kindsOf(size))]).to.have.members(Object.keys(faultTypes));
    for (const [first, second] of episodes) expect(first?.place).to.not.equal(second?.place);
  });
});
