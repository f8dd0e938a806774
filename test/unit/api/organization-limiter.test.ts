import { expect } from 'chai';
import { OrganizationLimiter } from '../../../internal/intake/http/organization-limiter.ts';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';

describe('the limiter of organizations', () => {
  let now: number;
  let limiter: OrganizationLimiter;
  beforeEach(() => {
    now = 1_000;
    limiter = new OrganizationLimiter({ rate: 10, onLimited: () => undefined }, () => now);
  });

  /** The seconds to wait; 0 if so many events are taken. */
  function send(events: number, rate?: number): number {
    try {
      limiter.admit('acme', rate);
    } catch (error) {
      if (error instanceof RequestError) return Number(error.headers['Retry-After']);
      throw error;
    }
    limiter.charge('acme', events);
    return 0;
  }
  const taken = (): number => Array.from({ length: 100 }, () => send(1)).filter((wait) => wait === 0).length;

  it('takes as many events as the rate, and as many at once after a quiet second', () => {
    expect(taken()).to.equal(10);
    now += 500;
    expect(taken()).to.equal(5);
    now += 60_000;
    expect(taken()).to.equal(10);
  });

  it('takes more events than the rate at once, and none until they are paid', () => {
    expect(send(35)).to.equal(0);
    expect(send(1)).to.equal(3);
    now += 2_500;
    expect(send(1)).to.equal(1);
    now += 100;
    expect(send(1)).to.equal(0);
  });

  it("takes the organization's own rate from the next request on, and 0 as no limit", () => {
    expect(send(35)).to.equal(0);
    expect(send(1, 26)).to.equal(1);
    expect([send(500, 0), send(500, 0)]).to.deep.equal([0, 0]);
    expect(taken()).to.equal(10);
  });
});
