import { createRemoteJWKSet, customFetch, errors, jwtVerify, type RemoteJWKSet } from 'jose';
import type { Context } from '../intake/http/page-route.ts';
import { unavailable } from '../kit/errors/request-error.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { Claims } from './claims.ts';
import { isFor, isFromTheFuture, isIdToken } from './id-token.ts';
import { clockDifference, restMs, type Provider } from './provider.ts';
import { restAfterFailure } from './rest-after-failure.ts';

export interface BearerOptions {
  provider: Provider;
  /** The client id of the proxy, for which the provider issues the tokens. */
  audience: string;
  /** Delays the answers to many tokens that are not valid. */
  limitWrongTokens: () => Promise<void>;
  logger: Logger;
}

/** No symmetric algorithm, and not `none`. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Provider metadata may be so old, in ms: the keys have an age of their own. */
const oldest = 3_600_000;

/**
 * People behind a proxy that logs them in, such as oauth2-proxy: the proxy sends their id token as
 * `Authorization: Bearer`. No other header of the proxy is believed: any caller could send one.
 */
export class BearerLogin {
  readonly #options: BearerOptions;
  #keys: { uri: string; set: RemoteJWKSet } | undefined;
  readonly #fetchKeys = restAfterFailure(restMs, fetchOnce);

  constructor(options: BearerOptions) {
    this.#options = options;
  }

  /**
   * The claims of the id token of a request; undefined without a valid one.
   * @throws {RequestError} when the keys of the provider cannot be read.
   */
  async claimsOf(ctx: Context): Promise<Claims | undefined> {
    const token = /^bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1];
    // A read token of the API is no JWT.
    if (token?.split('.').length !== 3) return undefined;
    const { provider, audience, logger } = this.#options;
    try {
      const { issuer, jwks_uri: keys } = (await provider.configuration(oldest)).serverMetadata();
      const { payload, protectedHeader } = await jwtVerify(token, this.#keysAt(String(keys)), {
        issuer,
        audience,
        algorithms,
        clockTolerance: clockDifference,
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      if (isIdToken(protectedHeader, payload) && isFor(audience, payload) && !isFromTheFuture(payload)) return payload;
      logger.info({ reason: 'not an id token for this client' }, 'id token refused');
    } catch (error) {
      if (!isOfToken(error)) throw unavailable('The keys of the OpenID Connect provider cannot be read.', error);
      logger.info({ reason: error.code }, 'id token refused');
    }
    await this.#options.limitWrongTokens();
    return undefined;
  }

  #keysAt(uri: string): RemoteJWKSet {
    if (this.#keys?.uri !== uri)
      this.#keys = { uri, set: createRemoteJWKSet(new URL(uri), { [customFetch]: this.#fetchKeys }) };
    return this.#keys.set;
  }
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
