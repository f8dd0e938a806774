import { expect } from 'chai';
import { CodeFlow, CodeFlowError } from '../../../internal/login/code-flow.ts';
import { Provider } from '../../../internal/login/provider.ts';
import { OwnProvider } from '../../support/own-provider.ts';

const redirectUri = 'https://console.example/login/callback';

describe('the end of a login', () => {
  let own: OwnProvider;
  let flow: CodeFlow;
  beforeEach(async () => {
    own = await OwnProvider.start();
    const provider = new Provider({ issuer: new URL(own.issuer), clientId: 'runledger', clientSecret: 'secret' });
    flow = new CodeFlow({ provider, redirectUri, scopes: 'openid', groupsClaim: 'groups' });
  });
  afterEach(() => own[Symbol.asyncDispose]());

  /** Ends a login whose id token has these claims over those of a valid one. */
  const end = async (claims: object): Promise<unknown> => {
    const { checks } = await flow.begin();
    own.claims = { nonce: checks.nonce, ...claims };
    return flow.end(`?code=c&state=${checks.state}`, checks).then(
      ({ claims: { sub } }) => sub,
      (error: unknown) => (error instanceof CodeFlowError ? error.failure : error),
    );
  };
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

  it('takes the id token of this client', async () => {
    expect(await end({})).to.equal('alice');
    expect(await end({ azp: 'runledger' })).to.equal('alice');
    expect(await end({ iat: inSeconds(10) }), 'a clock that is ahead a little').to.equal('alice');
  });

  it('refuses an id token that was issued to another client', async () => {
    expect(await end({ azp: 'another' })).to.equal('not-valid');
    expect(await end({ aud: ['runledger', 'another'] })).to.equal('not-valid');
  });

  it('refuses an id token from the future', async () => {
    expect(await end({ iat: inSeconds(300) })).to.equal('not-valid');
  });
});
