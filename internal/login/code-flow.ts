import {
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientError,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
  type Configuration,
} from 'openid-client';
import { groupsOf, hasTooManyGroups, type Claims } from './claims.ts';
import { isFor, isFromTheFuture } from './id-token.ts';
import type { Provider } from './provider.ts';
import { messageOf } from '../kit/errors/message-of.ts';

/** What the browser keeps between the start and the end of a login. */
export interface LoginChecks {
  state: string;
  nonce: string;
  verifier: string;
}

/**
 * Why a login failed: the provider does not answer, it refused the person, or its answer does not
 * belong to this login.
 */
export type CodeFlowFailure = 'unavailable' | 'refused' | 'not-valid';

export class CodeFlowError extends Error {
  override readonly name = 'CodeFlowError';
  readonly failure: CodeFlowFailure;

  constructor(failure: CodeFlowFailure, cause: unknown) {
    super(messageOf(cause), { cause });
    this.failure = failure;
  }
}

export interface CodeFlowOptions {
  provider: Provider;
  /** The address of `/login/callback` as registered at the provider. */
  redirectUri: string;
  scopes: string;
  groupsClaim: string;
}

/** Maximum age of provider metadata at the start and at the end of a login, in ms. */
const oldestAtBegin = 5_000;
const oldestAtEnd = 3_600_000;

/** Login with the authorization code flow of OpenID Connect, with PKCE, state and nonce. */
export class CodeFlow {
  readonly #options: CodeFlowOptions;

  constructor(options: CodeFlowOptions) {
    this.#options = options;
  }

  /**
   * Begins a login: resolves with the address of the provider, and the checks for the end.
   * @throws {CodeFlowError} if the provider does not answer.
   */
  async begin(): Promise<{ address: URL; checks: LoginChecks }> {
    const { redirectUri, scopes } = this.#options;
    const configuration = await this.#configuration(oldestAtBegin);
    const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const address = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: scopes,
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    });
    return { address, checks };
  }

  /**
   * Ends a login: resolves with the person's claims and the id token. `search` is the query of the
   * provider's answer. Checks issuer, audience, authorized party, signature, times, state and
   * nonce.
   * @throws {CodeFlowError}
   */
  async end(search: string, { state, nonce, verifier }: LoginChecks): Promise<{ claims: Claims; idToken: string }> {
    const configuration = await this.#configuration(oldestAtEnd);
    const answer = new URL(this.#options.redirectUri);
    answer.search = search;
    try {
      const tokens = await authorizationCodeGrant(configuration, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims: Claims = { ...tokens.claims() };
      if (!isFor(configuration.clientMetadata().client_id, claims)) throw new ForeignIdToken('azp is another client');
      if (isFromTheFuture(claims)) throw new ForeignIdToken('iat is in the future');
      const all = await this.#withGroups(configuration, claims, tokens.access_token);
      return { claims: all, idToken: tokens.id_token ?? '' };
    } catch (error) {
      throw new CodeFlowError(failureOf(error), error);
    }
  }

  async #configuration(oldestMs: number): Promise<Configuration> {
    try {
      return await this.#options.provider.configuration(oldestMs);
    } catch (error) {
      throw new CodeFlowError('unavailable', error);
    }
  }

  /** Many providers return the groups only from their userinfo endpoint. */
  async #withGroups(configuration: Configuration, claims: Claims, accessToken: string): Promise<Claims> {
    const { groupsClaim } = this.#options;
    if (groupsOf(claims, groupsClaim) !== undefined || hasTooManyGroups(claims, groupsClaim)) return claims;
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    const more = await fetchUserInfo(configuration, accessToken, String(claims['sub']));
    // Set by the full path: for `realm_access.roles`, the id token's `realm_access` would win.
    return { ...more, ...claims, [groupsClaim]: groupsOf(more, groupsClaim) };
  }
}

/** An id token that openid-client accepts but this console does not. */
class ForeignIdToken extends Error {
  override readonly name = 'ForeignIdToken';
}

/** Error codes of openid-client for an unusable answer of the provider. */
const noAnswer = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

function failureOf(error: unknown): CodeFlowFailure {
  if (error instanceof AuthorizationResponseError) return 'refused';
  if (error instanceof ForeignIdToken) return 'not-valid';
  // An invalid code was used before or is too old. Every other error is about this client.
  if (error instanceof ResponseBodyError) return error.error === 'invalid_grant' ? 'not-valid' : 'unavailable';
  if (error instanceof ClientError) return noAnswer.has(error.code ?? '') ? 'unavailable' : 'not-valid';
  return 'unavailable';
}
