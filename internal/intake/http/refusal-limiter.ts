import type { Context } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';
import type { AuthenticatedState } from './authenticate.ts';
import { createWrongTokenLimiter } from './wrong-token-limiter.ts';

/** Refused requests of one organization per second that are answered at once: 5 % of a core. */
const freePerSecond = 1_000;

/** Delays the answer to a request that failed with an error, or returns undefined. */
export type LimitRefusals = (ctx: Context, error: unknown) => Promise<void> | undefined;

/**
 * Limits refused requests with a valid token, for each organization: beyond the rate, each answer
 * is delayed like that to a wrong token. Needs no ORGANIZATION_RATE. A 503 or a 409 is not the
 * caller's fault, and does not count.
 */
export function createRefusalLimiter(create = () => createWrongTokenLimiter(undefined, undefined, freePerSecond)) {
  const ofOrganizations = new Map<string, () => Promise<void>>();
  const limit: LimitRefusals = (ctx, error) => {
    const { organization } = ctx.state as Partial<AuthenticatedState>;
    if (organization === undefined || !(error instanceof RequestError)) return undefined;
    if (error.code === 'unavailable' || error.code === 'request-in-progress') return undefined;
    const own = ofOrganizations.get(organization) ?? create();
    ofOrganizations.set(organization, own);
    return own();
  };
  return limit;
}
