import { expect } from 'chai';
import { joinClocks } from '../../../internal/queue/clocks/join-clocks.ts';
import type { QueueClock } from '../../../internal/queue/clocks/queue-clock.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const seconds = (count: number): number => now + count * 1_000;
const clock: QueueClock = { now, oldestAt: undefined, admittingAt: now, gaps: [], silences: [], overflow: undefined };
const interval = (from: number, until: number) => ({ from: seconds(from), until: seconds(until) });

describe('the clocks of several shards', () => {
  it('are those of one queue: as old as its oldest job, and as far as the slowest clock', () => {
    const joined = joinClocks([
      { ...clock, oldestAt: seconds(-5), admittingAt: seconds(-4), gaps: [interval(-90, -80)] },
      {
        ...clock,
        oldestAt: seconds(-9),
        admittingAt: undefined,
        overflow: { oldestAt: seconds(-7), organizations: ['a'] },
      },
      { ...clock, admittingAt: seconds(-2), overflow: { oldestAt: seconds(-8), organizations: ['b', 'a'] } },
    ]);
    expect(joined).to.deep.equal({
      now,
      oldestAt: seconds(-9),
      admittingAt: seconds(-2),
      gaps: [interval(-90, -80)],
      silences: [],
      overflow: { oldestAt: seconds(-8), organizations: ['a', 'b'] },
    });
  });

  it('have a gap where no pod noted anything in any of them, not where one was unavailable', () => {
    const one = { ...clock, silences: [interval(-300, -200), interval(-100, -50)] };
    const other = { ...clock, silences: [interval(-150, -70)] };
    // Two seconds more on each side: they are not read at the same moment.
    expect(joinClocks([one, other]).gaps).to.deep.equal([interval(-102, -68)]);
    expect(joinClocks([one, clock]).gaps).to.deep.equal([]);
  });

  it('have that gap also before the pods have noted anything in a shard that is back', () => {
    const noted = { ...clock, silences: [interval(-100, -10)] };
    const silent = { ...clock, admittingAt: seconds(-90) };
    expect(joinClocks([noted, silent]).gaps).to.deep.equal([interval(-90, -8)]);
    expect(joinClocks([noted, { ...clock, admittingAt: undefined }]).gaps).to.deep.equal([interval(-102, -8)]);
  });

  it('are compared as of the slowest Redis', () => {
    const fast = { ...clock, now: seconds(30), admittingAt: seconds(30), silences: [interval(-70, -30)] };
    const joined = joinClocks([{ ...clock, silences: [interval(-95, -65)] }, fast]);
    expect(joined).to.include({ now, admittingAt: now });
    expect(joined.gaps).to.deep.equal([interval(-97, -63)]);
    expect(() => joinClocks([clock, { ...clock, now: seconds(61) }])).to.throw(
      'The clocks of the shards differ by 61 s.',
    );
  });

  it('of one shard are its own, with silences of the time in which there were several', () => {
    const alone = { ...clock, gaps: [interval(-9, -8)], silences: [interval(-7, -6)] };
    expect(joinClocks([alone]).gaps).to.deep.equal([interval(-9, -8), interval(-7, -6)]);
  });
});
