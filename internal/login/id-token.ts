import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify, type RemoteJWKSet } from 'jose';
import { unavailable } from '../kit/errors/request-error.ts';
import type { Claims } from './claims.ts';
import { clockDifference, restMs, type Provider } from './provider.ts';
import { restAfterFailure } from './rest-after-failure.ts';
import { recentSeconds } from './viewer.ts';

/** Excludes symmetric algorithms and `none`. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Maximum age of provider metadata, in ms; the keys have their own. */
const oldest = 3_600_000;

/** Why an id token is refused, in a few words. */
export interface Refused {
  readonly refused: string;
}

/** Checks id tokens against the keys of the provider. */
export class IdTokens {
  readonly #provider: Provider;
  readonly #audiences: readonly string[];
  #keys: { uri: string; set: RemoteJWKSet } | undefined;
  readonly #fetchKeys = restAfterFailure(restMs, fetchOnce);

  /** @param audiences the client ids that the provider issues the tokens for. */
  constructor(provider: Provider, audiences: readonly string[]) {
    this.#provider = provider;
    this.#audiences = audiences;
  }

  /**
   * Returns the claims of an id token that is valid now.
   * @throws {RequestError} when the keys of the provider cannot be read.
   */
  valid(token: string): Promise<Claims | Refused> {
    return this.#verify(token, new Date());
  }

  /** As `valid`, for a token of the last hour: it proves a login even if it has expired since. */
  async recent(token: string): Promise<Claims | Refused> {
    if (!isRecent(token)) return { refused: 'older than an hour' };
    return this.#verify(token, new Date(issuedAt(token) * 1_000));
  }

  async #verify(token: string, currentDate: Date): Promise<Claims | Refused> {
    try {
      const { issuer, jwks_uri: keys } = (await this.#provider.configuration(oldest)).serverMetadata();
      const { payload, protectedHeader } = await jwtVerify(token, this.#keysAt(String(keys)), {
        issuer,
        audience: [...this.#audiences],
        algorithms,
        clockTolerance: clockDifference,
        currentDate,
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      const isOurs = this.#audiences.some((audience) => isFor(audience, payload));
      if (isIdToken(protectedHeader, payload) && isOurs && !isFromTheFuture(payload)) return payload;
      return { refused: 'not an id token for this client' };
    } catch (error) {
      if (!isOfToken(error)) throw unavailable('The keys of the OpenID Connect provider cannot be read.', error);
      return { refused: error.code };
    }
  }

  #keysAt(uri: string): RemoteJWKSet {
    if (this.#keys?.uri !== uri)
      this.#keys = { uri, set: createRemoteJWKSet(new URL(uri), { [customFetch]: this.#fetchKeys }) };
    return this.#keys.set;
  }
}

/** True if the text claims to be an id token of the last hour; nothing else is checked. */
export function isRecent(token: string, now = Date.now()): boolean {
  return now / 1_000 - issuedAt(token) <= recentSeconds;
}

/** NaN if the text is no JWT. */
function issuedAt(token: string): number {
  try {
    return decodeJwt(token).iat ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/**
 * True unless the token says that it was issued to another client. A token for several audiences
 * must name this client (OpenID Connect Core, section 3.1.3.7).
 */
export function isFor(clientId: string, { aud, azp }: Claims): boolean {
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  return azp === undefined ? audiences.length === 1 && audiences[0] === clientId : azp === clientId;
}

/** True if the token was issued in the future, beyond the accepted clock difference. */
export function isFromTheFuture({ iat }: Claims, now = Date.now()): boolean {
  return Number(iat) > now / 1_000 + clockDifference;
}

/**
 * False for an access token of the same issuer and audience: its header says `at+jwt` (RFC 9068),
 * or its claims say `Bearer` (Keycloak).
 */
export function isIdToken(header: { typ?: string }, claims: Claims): boolean {
  return ['JWT', undefined].includes(header.typ) && ['ID', undefined].includes(claims['typ'] as string | undefined);
}

/** @throws if the answer is not 200, so that the provider gets a rest then too. */
async function fetchOnce(url: string, options: RequestInit & { headers: Headers }): Promise<Response> {
  options.headers.set('connection', 'close');
  const response = await fetch(url, options);
  if (response.status === 200) return response;
  await response.body?.cancel();
  throw new Error(`the keys were answered with ${response.status}`);
}

/** Error codes of the request for the keys. */
const ofKeys = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']);

/** True if the token itself is at fault, false if the keys could not be read. */
function isOfToken(error: unknown): error is errors.JOSEError {
  return error instanceof errors.JOSEError && !ofKeys.has(error.code);
}
