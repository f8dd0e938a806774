import { expect } from 'chai';
import { OneTimeLink } from '../../../internal/login/one-time-link.ts';

describe('a one-time link', () => {
  let now = 0;
  beforeEach(() => {
    now = 0;
  });
  const link = () => new OneTimeLink('demo', () => now);

  it('works once, with its secret only', () => {
    const one = link();
    for (const wrong of ['', one.secret.slice(1), link().secret]) expect(one.use(wrong)).to.equal(false);
    expect(one.use(one.secret)).to.equal(true);
    expect(one.use(one.secret)).to.equal(false);
  });

  it('works again when the login failed', () => {
    const one = link();
    expect(one.use(one.secret)).to.equal(true);
    one.giveBack();
    expect(one.use(one.secret)).to.equal(true);
    expect(one.use(one.secret)).to.equal(false);
  });

  it('works for 15 minutes', () => {
    const one = link();
    now = 15 * 60_000 + 1;
    expect(one.use(one.secret)).to.equal(false);
  });

  it('has a secret of 256 random bits', () => {
    expect(link().secret)
      .to.match(/^[\w-]{43}$/)
      .and.to.not.equal(link().secret);
  });
});
