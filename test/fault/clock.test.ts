import { expect } from 'chai';
import { createIdentitySource } from '../../internal/event/identity.ts';

describe('clock of a pod', () => {
  /** Times that events are stamped with while the clock shows these, in ms. */
  function stampedAt(...clock: number[]): number[] {
    let tick = 0;
    const identify = createIdentitySource(() => clock[tick++] ?? 0);
    return clock.map(() => identify().createdAt);
  }

  it('was a day ahead and is set right: events are stamped with the true time again', () => {
    const [now, day] = [1_800_000_000_000, 86_400_000];
    expect(stampedAt(now, now + day, now + 10, now + 20)).to.deep.equal([now, now + day, now + 10, now + 20]);
  });

  it('steps back by a second: events keep their order', () => {
    expect(stampedAt(10_000, 9_000, 9_500, 10_001)).to.deep.equal([10_000, 10_000, 10_000, 10_001]);
  });
});
