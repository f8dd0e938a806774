import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Provider, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';

/**
 * A real OpenID Connect provider, for the tests of the login. It logs in the account that the
 * browser has in the header `x-account`, as claims in JSON, without a password, and grants what the
 * client asks. The first line of output is its issuer. With `CERT` and `KEY` it speaks TLS.
 */

/** Where the clients get their answers. */
const [redirectUri = ''] = process.argv.slice(2);

/** The claims of each account that has logged in, by its subject. */
const accounts = new Map<string, Record<string, unknown>>();

const { HOST: host = '127.0.0.1', PORT: port = '0', CERT: cert, KEY: key } = process.env;
const limits = { maxHeaderSize: 131_072 };
const server = cert === undefined ? createServer(limits) : createHttpsServer({ ...limits, cert, key });
server.listen(Number(port), host, () => {
  const issuer = `${cert === undefined ? 'http' : 'https'}://${host}:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configuration());
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') === true) void logIn(provider, request, response);
    else void answer(request, response);
  });
  process.stdout.write(`${issuer}\n`);
});
process.on('SIGTERM', () => process.exit(0));

/** The account `nobody` is refused. */
async function logIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const account = String(request.headers['x-account']);
  if (account === 'nobody') {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
    return;
  }
  const claims = JSON.parse(account) as Record<string, unknown>;
  const accountId = String(claims['sub']);
  accounts.set(accountId, claims);
  await provider.interactionFinished(request, response, { login: { accountId } });
}

function configuration(): Configuration {
  const client = {
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code'],
    response_types: ['code'] as const,
  };
  return {
    clients: [
      { ...client, client_id: 'runledger', client_secret: 'a-secret-of-the-console', response_types: ['code'] },
      { ...client, client_id: 'other', client_secret: 'a-secret-of-another', response_types: ['code'] },
    ],
    // Groups are in the id token or at the userinfo endpoint, as the account says.
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups', 'hasgroups', 'realm_access'] },
    features: { devInteractions: { enabled: false }, userinfo: { enabled: true } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: (use) => {
        const { atUserinfo = {}, ...claims } = accounts.get(accountId) ?? {};
        return { ...claims, sub: accountId, ...(use === 'userinfo' && (atUserinfo as object)) };
      },
    }),
    loadExistingGrant,
    cookies: { keys: ['a key of a test'] },
    ttl: { Interaction: 60, Session: 60, Grant: 60, IdToken: 60, AccessToken: 60, AuthorizationCode: 60 },
  };
}

/** Consents to everything. */
async function loadExistingGrant({ oidc }: KoaContextWithOIDC) {
  const { session, client, provider, params } = oidc;
  const grant = new provider.Grant({ clientId: String(client?.clientId), accountId: String(session?.accountId) });
  grant.addOIDCScope(String(params?.['scope']));
  await grant.save();
  return grant;
}
