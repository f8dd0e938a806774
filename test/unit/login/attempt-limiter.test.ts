import { expect } from 'chai';
import { AttemptLimiter } from '../../../internal/login/attempt-limiter.ts';

describe('the limiter of logins', () => {
  let now = 0;
  let limiter: AttemptLimiter;
  beforeEach(() => {
    now = 0;
    limiter = new AttemptLimiter(() => now);
  });

  it('refuses the 21st attempt of an address within a minute, and says for how long', () => {
    for (let index = 0; index < 20; index += 1) expect(limiter.begin('a')).to.equal(undefined);
    now = 20_500;
    expect(limiter.begin('a')).to.equal(40);
    expect(limiter.begin('b')).to.equal(undefined);
    now = 60_000;
    expect(limiter.begin('a')).to.equal(undefined);
  });

  it('does not count logins', () => {
    for (let index = 0; index < 100; index += 1) {
      expect(limiter.begin('a')).to.equal(undefined);
      limiter.succeeded('a');
    }
  });
});
