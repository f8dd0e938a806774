import { expect } from 'chai';
import { isFor, isIdToken } from '../../../internal/login/id-token.ts';

describe('a token in the header', () => {
  it('must be for the proxy, if it names its client or several audiences', () => {
    expect(isFor('proxy', { aud: 'proxy' })).to.equal(true);
    expect(isFor('proxy', { aud: ['proxy'], azp: 'proxy' })).to.equal(true);
    expect(isFor('proxy', { aud: ['proxy', 'api'], azp: 'proxy' })).to.equal(true);
    expect(isFor('proxy', { aud: ['proxy', 'api'] })).to.equal(false);
    expect(isFor('proxy', { aud: 'proxy', azp: 'another' })).to.equal(false);
  });

  it('must be an id token, and no access token', () => {
    expect(isIdToken({}, {})).to.equal(true);
    expect(isIdToken({ typ: 'JWT' }, { typ: 'ID' })).to.equal(true);
    expect(isIdToken({ typ: 'at+jwt' }, {})).to.equal(false);
    expect(isIdToken({ typ: 'JWT' }, { typ: 'Bearer' })).to.equal(false);
  });
});
