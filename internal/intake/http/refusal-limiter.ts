import type { Context } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';
import type { AuthenticatedState } from './authenticate.ts';
import { createWrongTokenLimiter } from './wrong-token-limiter.ts';

/** Refused requests of an organization per second that get an answer at once: 5 % of a core. */
const freePerSecond = 1_000;

/** Delays the answer to a request that failed with an error, or returns undefined. */
export type LimitRefusals = (ctx: Context, error: unknown) => Promise<void> | undefined;

/**
 * Rate limiter for refused requests with a valid token, for each organization: past the limit, each
 * answer is delayed as one to a wrong token. It needs no ORGANIZATION_RATE. A 503 and a 409 are not
 * the caller's fault.
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
