import { expect } from 'chai';
import { createIdentitySource } from '../../../internal/event/identity.ts';

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The time that a UUIDv7 carries, in ms (RFC 9562, section 5.7). */
function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

describe('event identity', () => {
  it('is a UUIDv7 whose time is createdAt', () => {
    const identify = createIdentitySource(() => 1_767_225_600_123);
    const { id, createdAt } = identify();
    expect(id).to.match(uuid7);
    expect(createdAt).to.equal(1_767_225_600_123);
    expect(timeOf(id)).to.equal(createdAt);
  });

  it('grows within a millisecond, across milliseconds, and when the clock steps back', () => {
    const clock = [5, 5, 5, 6, 6, 3, 1, 6, 7].flatMap((time) => Array.from({ length: 500 }, () => 1_000_000 + time));
    let tick = 0;
    const identify = createIdentitySource(() => clock[tick++] ?? 0);
    const identities = clock.map(() => identify());

    for (const [index, { id, createdAt }] of identities.entries()) {
      const before = identities[index - 1];
      expect(timeOf(id)).to.equal(createdAt);
      if (before === undefined) continue;
      expect(id > before.id, `${before.id} then ${id}`).to.equal(true);
      expect(createdAt).to.be.at.least(before.createdAt);
    }
    expect(identities.at(-1)?.createdAt).to.equal(1_000_007);
  });

  it('grows within a millisecond past what one group of its digits can count', () => {
    const identify = createIdentitySource(() => 1_767_225_600_123);
    const ids = Array.from({ length: 40_000 }, () => identify().id);
    expect(new Set(ids.map((id) => id.slice(14, 18))).size, 'first groups').to.be.greaterThan(1);
    expect(ids.every((id) => uuid7.test(id))).to.equal(true);
    expect(ids).to.deep.equal([...new Set(ids)].sort());
  });

  it('ends in bits of the process, the same from event to event', () => {
    const tails = Array.from({ length: 50 }, () => {
      const identify = createIdentitySource();
      return [identify(), identify()].map(({ id }) => id.slice(-12));
    });
    expect(new Set(tails.flat())).to.have.length(50);
    for (const [first, second] of tails) expect(first).to.equal(second);
  });

  it('ends in other bits once the clock has been set back, since its milliseconds come again', () => {
    const clock = [3_600_000, 3_600_001, 0, 1];
    let tick = 0;
    const identify = createIdentitySource(() => clock[tick++] ?? 0);
    const identities = clock.map(() => identify());
    expect(identities.map(({ createdAt }) => createdAt)).to.deep.equal(clock);
    const tails = identities.map(({ id }) => id.slice(-12));
    expect(tails[1]).to.equal(tails[0]);
    expect(tails[2]).to.not.equal(tails[0]);
    expect(tails[3]).to.equal(tails[2]);
  });

  it('begins anywhere in a millisecond, so that two pods do not meet there', () => {
    const counters = Array.from({ length: 50 }, () => createIdentitySource(() => 1_000_000)().id.slice(14, 23));
    expect(new Set(counters).size).to.be.greaterThan(45);
  });
});
