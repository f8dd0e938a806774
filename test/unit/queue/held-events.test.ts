import { expect } from 'chai';
import { BufferFull } from '../../../internal/queue/group-commit.ts';
import { HeldEvents } from '../../../internal/queue/job/held-events.ts';
import { anEvent } from '../../support/events.ts';
import { until } from '../../support/until.ts';

describe('the events that a producer holds', () => {
  const of = (organization: string, count = 1) => Array.from({ length: count }, () => anEvent({ organization }));

  it('leave a quarter of the bytes, and of the events, to other organizations', () => {
    const held = new HeldEvents({ bufferedEvents: 100, bufferedBytes: 1_000 });
    const flood = of('flood');
    const own = held.take(flood, 700);
    expect(() => held.take(of('flood'), 51)).to.throw(BufferFull);
    held.take(of('quiet'), 250);
    expect(() => held.take(of('other'), 51)).to.throw(BufferFull);
    held.release(own, flood, 700);
    held.take(of('flood', 75), 50);
    expect(() => held.take(of('flood'), 1)).to.throw(BufferFull);
    held.take(of('quiet'), 1);
  });

  it('say whether others send events, now or 100 ms ago', async () => {
    const held = new HeldEvents({ bufferedEvents: 100, bufferedBytes: 1_000 });
    const large = of('hostile');
    held.take(large, 500);
    expect(held.hasOthers('hostile')).to.equal(false);
    const quiet = of('quiet');
    const own = held.take(quiet, 1);
    expect(held.hasOthers('hostile')).to.equal(true);
    held.release(own, quiet, 1);
    const begun = performance.now();
    await until('they are gone', () => !held.hasOthers('hostile'));
    expect(performance.now() - begun).to.be.above(50);
  });

  it('may be more than all of the room while there are no others', () => {
    const held = new HeldEvents({ bufferedEvents: 1, bufferedBytes: 10 });
    const events = of('acme', 2);
    const own = held.take(events, 11);
    expect(() => held.take(of('acme'), 1)).to.throw(BufferFull);
    held.release(own, events, 11);
    held.take(of('acme', 2), 11);
  });
});
