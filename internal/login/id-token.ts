import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify, type RemoteJWKSet } from 'jose';
import { unavailable } from '../kit/errors/request-error.ts';
import type { Claims } from './claims.ts';
import { clockDifference, restMs, type Provider } from './provider.ts';
import { restAfterFailure } from './rest-after-failure.ts';
import { recentSeconds } from './viewer.ts';

/** No symmetric algorithm, and not `none`. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Provider metadata may be so old, in ms: the keys have an age of their own. */
const oldest = 3_600_000;

/** Why an id token is refused, in a word or a few. */
export interface Refused {
  readonly refused: string;
}

/** Checks id tokens against the keys of the provider. */
export class IdTokens {
  readonly #provider: Provider;
  readonly #audiences: readonly string[];
  #keys: { uri: string; set: RemoteJWKSet } | undefined;
  readonly #fetchKeys = restAfterFailure(restMs, fetchOnce);

  /** @param audiences the client ids for which the provider issues the tokens. */
  constructor(provider: Provider, audiences: readonly string[]) {
    this.#provider = provider;
    this.#audiences = audiences;
  }

  /**
   * The claims of an id token that is valid now.
   * @throws {RequestError} when the keys of the provider cannot be read.
   */
  valid(token: string): Promise<Claims | Refused> {
    return this.#verify(token, new Date());
  }

  /** As `valid`, for a token of the last hour: it proves a login that may have expired since. */
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

/** True for a text that says it is an id token of the last hour. Nothing else of it is checked. */
export function isRecent(token: string, now = Date.now()): boolean {
  return now / 1_000 - issuedAt(token) <= recentSeconds;
}

/** NaN for what is no JWT. */
function issuedAt(token: string): number {
  try {
    return decodeJwt(token).iat ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/**
 * True unless the token names another client as the one which it was issued to. One for several
 * audiences must name this client (OpenID Connect Core, section 3.1.3.7).
 */
export function isFor(clientId: string, { aud, azp }: Claims): boolean {
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  return azp === undefined ? audiences.length === 1 && audiences[0] === clientId : azp === clientId;
}

/** True for a token that was issued later than now, beyond the difference of the clocks. */
export function isFromTheFuture({ iat }: Claims, now = Date.now()): boolean {
  return Number(iat) > now / 1_000 + clockDifference;
}

/**
 * An access token of the same issuer and audience is no id token: its header says `at+jwt`
 * (RFC 9068), or its claims `Bearer` (Keycloak).
 */
export function isIdToken(header: { typ?: string }, claims: Claims): boolean {
  return ['JWT', undefined].includes(header.typ) && ['ID', undefined].includes(claims['typ'] as string | undefined);
}

/** @throws for an answer that is not 200, so that the provider is left alone then too. */
async function fetchOnce(url: string, options: RequestInit & { headers: Headers }): Promise<Response> {
  options.headers.set('connection', 'close');
  const response = await fetch(url, options);
  if (response.status === 200) return response;
  await response.body?.cancel();
  throw new Error(`the keys were answered with ${response.status}`);
}

/** Codes of errors of the request for the keys. */
const ofKeys = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']);

/** True for a fault of the token itself, false when the keys could not be read. */
function isOfToken(error: unknown): error is errors.JOSEError {
  return error instanceof errors.JOSEError && !ofKeys.has(error.code);
}
