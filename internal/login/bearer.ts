import type { Context } from '../intake/http/page-route.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { Claims } from './claims.ts';
import type { IdTokens } from './id-token.ts';

export interface BearerOptions {
  /** Checks id tokens issued for the proxy's client id. */
  idTokens: IdTokens;
  /** Delays the answers when many tokens are invalid. */
  limitWrongTokens: () => Promise<void>;
  logger: Logger;
}

/**
 * Logins through a proxy such as oauth2-proxy, which sends the person's id token as `Authorization:
 * Bearer`. No other header of the proxy is trusted: any caller could send one.
 */
export class BearerLogin {
  readonly #options: BearerOptions;

  constructor(options: BearerOptions) {
    this.#options = options;
  }

  /**
   * The claims of the id token of a request; undefined without a valid one.
   * @throws {RequestError} when the keys of the provider cannot be read.
   */
  async claimsOf(ctx: Context): Promise<Claims | undefined> {
    const token = bearerOf(ctx);
    if (token === undefined) return undefined;
    const { idTokens, limitWrongTokens, logger } = this.#options;
    const found = await idTokens.valid(token);
    if (!('refused' in found)) return found;
    logger.info({ reason: found.refused }, 'id token refused');
    await limitWrongTokens();
    return undefined;
  }
}

/** The JWT of a request. A read token of the API is not one. */
export function bearerOf(ctx: Context): string | undefined {
  const token = /^bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1];
  return token?.split('.').length === 3 ? token : undefined;
}
