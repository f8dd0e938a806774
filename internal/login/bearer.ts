import { createRemoteJWKSet, customFetch, errors, jwtVerify, type RemoteJWKSet } from 'jose';
import type { Context } from '../api/page-route.ts';
import { unavailable } from '../errors/request-error.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Claims } from './claims.ts';
import type { Provider } from './provider.ts';

export interface BearerOptions {
  provider: Provider;
  /** The client id of the proxy, for which the provider issues the tokens. */
  audience: string;
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
        clockTolerance: 30,
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      return isIdToken(protectedHeader, payload) && isFor(audience, payload) ? payload : undefined;
    } catch (error) {
      if (!isOfToken(error)) throw unavailable('The keys of the OpenID Connect provider cannot be read.', error);
      logger.info({ reason: error.code }, 'id token refused');
      return undefined;
    }
  }

  #keysAt(uri: string): RemoteJWKSet {
    if (this.#keys?.uri !== uri)
      this.#keys = { uri, set: createRemoteJWKSet(new URL(uri), { [customFetch]: fetchOnce }) };
    return this.#keys.set;
  }
}

const fetchOnce = (url: string, options: RequestInit & { headers: Headers }): Promise<Response> => {
  options.headers.set('connection', 'close');
  return fetch(url, options);
};

/**
 * A token that names the client which it was issued to, or several audiences, must be one for the
 * proxy in the first place (OpenID Connect Core, section 3.1.3.7).
 */
export function isFor(audience: string, { aud, azp }: Claims): boolean {
  const severalAudiences = Array.isArray(aud) && aud.length > 1;
  return azp === undefined ? !severalAudiences : azp === audience;
}

/**
 * An access token of the same issuer and audience is no id token: its header says `at+jwt`
 * (RFC 9068), or its claims `Bearer` (Keycloak).
 */
export function isIdToken(header: { typ?: string }, claims: Claims): boolean {
  return ['JWT', undefined].includes(header.typ) && ['ID', undefined].includes(claims['typ'] as string | undefined);
}

/** Codes of errors of the request for the keys. */
const ofKeys = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']);

/** True for a fault of the token itself, false when the keys could not be read. */
function isOfToken(error: unknown): error is errors.JOSEError {
  return error instanceof errors.JOSEError && !ofKeys.has(error.code);
}
