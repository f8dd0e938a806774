import { expect } from 'chai';
import * as fc from 'fast-check';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';
import { isOverflowFull } from '../../../internal/queue/admission/admission-control.ts';
import { Overflow } from '../../../internal/queue/admission/overflow.ts';

const rate = 10;

/** An overflow lane on a clock that the test moves. */
function lane() {
  const state = { now: 1_000, full: false, limited: 0 };
  const options = { rate, isFull: () => state.full, onLimited: () => void (state.limited += 1) };
  return { state, overflow: new Overflow(options, () => state.now) };
}

/** Requests of an organization: the pause before each, in ms, and its events. */
const requests = fc.array(fc.record({ pauseMs: fc.nat(3_000), events: fc.integer({ min: 1, max: 50 }) }), {
  maxLength: 200,
});

describe('the overflow lane', () => {
  it('leaves an organization within its rate alone, whatever others send', () => {
    const steady = fc.array(fc.integer({ min: 1_000 / rate, max: 2_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(steady, (pauses) => {
        const { state, overflow } = lane();
        for (const pauseMs of pauses) {
          state.now += pauseMs;
          overflow.takes('flood', 500);
          expect(overflow.takes('acme', 1)).to.equal(false);
        }
      }),
    );
  });

  it('leaves to the queue no more than the rate, a second at once and the request that goes beyond', () => {
    fc.assert(
      fc.property(requests, (all) => {
        const { state, overflow } = lane();
        const begun = state.now;
        let inQueue = 0;
        for (const { pauseMs, events } of all) {
          state.now += pauseMs;
          if (!overflow.takes('acme', events)) inQueue += events;
          expect(inQueue).to.be.at.most(rate * ((state.now - begun) / 1_000) + rate + 50);
        }
      }),
    );
  });

  it('takes an organization until its bucket is full again: two seconds without events at most', () => {
    const { state, overflow } = lane();
    for (let sent = 0; sent < rate; sent += 1) expect(overflow.takes('acme', 1)).to.equal(false);
    for (let sent = 0; sent < 100; sent += 1) expect(overflow.takes('acme', 5)).to.equal(true);
    state.now += 1_999;
    expect(overflow.takes('acme', 1)).to.equal(true);
    state.now += 200;
    expect(overflow.takes('acme', 1)).to.equal(false);
  });

  it('rejects only organizations that are in the lane while it is full, and says when to repeat', () => {
    const { state, overflow } = lane();
    overflow.takes('acme', rate);
    expect(overflow.takes('acme', rate)).to.equal(true);
    state.full = true;
    for (const send of [() => overflow.takes('acme', 1), () => overflow.requireRoom('acme')]) {
      expect(send).to.throw(RequestError).with.deep.property('headers', {
        'Retry-After': '2',
        RateLimit: '"overflow";r=0;t=2',
        'RateLimit-Policy': '"overflow";q=10;w=1',
      });
    }
    overflow.requireRoom('globex');
    expect(overflow.takes('globex', 1)).to.equal(false);
    expect(state.limited).to.equal(2);
    // A rejected request costs nothing: after `Retry-After` it goes to the queue.
    state.now += 2_000;
    overflow.requireRoom('acme');
    expect(overflow.takes('acme', 1)).to.equal(false);
  });

  it('is full at its share of the jobs or of the memory of Redis', () => {
    const limits = { maxJobs: 100, maxMemoryShare: 0.75, overflowShare: 0.5, requireDurable: true, replicaAcks: 0 };
    const empty = { waiting: 0, active: 0, delayed: 0, failed: 0, overflow: 0, memoryShare: 0 };
    expect(isOverflowFull({ ...empty, waiting: 99, overflow: 49, memoryShare: 0.374 }, limits)).to.equal(false);
    expect(isOverflowFull({ ...empty, overflow: 50 }, limits)).to.equal(true);
    expect(isOverflowFull({ ...empty, memoryShare: 0.375 }, limits)).to.equal(true);
  });
});
