import { expect } from 'chai';
import type { Authentication as OfApi } from '../../../internal/api/authenticate.ts';
import { tokenSetOf } from '../../../internal/tokens/token-set.ts';
import { authenticateIn, type Authentication as OfTokens } from '../../../internal/tokens/token-source.ts';

describe('the two declarations of an authentication', () => {
  it('are one shape: the compiler takes each for the other', () => {
    const label = 'organization';
    const secret = {
      metadata: { name: 'one', labels: { [label]: 'acme' } },
      stringData: { token: 'a-long-enough-token' },
    };
    const ofTokens: OfTokens = authenticateIn(tokenSetOf([secret], label), 'a-long-enough-token');
    const ofApi: OfApi = ofTokens;
    const again: OfTokens = ofApi;
    expect(again).to.have.all.keys('status', 'organization', 'scope', 'tokenId');
  });
});
