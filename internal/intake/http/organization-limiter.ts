import type { Middleware } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';
import type { AuthenticatedState } from './authenticate.ts';

export interface OrganizationLimits {
  /** Events a second of an organization without a rate of its own; 0 for no limit. */
  rate: number;
  /** Called for each rejected request. */
  onLimited: (organization: string) => void;
  /** Throws when events of the organization can only go to a full overflow lane. */
  overflow?: { requireRoom: (organization: string) => void } | undefined;
}

/** Events that were free at the time `at`, in ms: below 0 after a large request. */
interface Bucket {
  free: number;
  at: number;
  rate: number;
}

/**
 * Limits the events of each organization by a token bucket: after a quiet second it may send as
 * many at once as in a second. A request is admitted while one is free, and takes one, also if it
 * is refused or cut later. One with more events, or with a large body, then takes more. So a bulk
 * request larger than the rate passes, and the next one waits longer.
 */
export class OrganizationLimiter {
  readonly #limits: OrganizationLimits;
  readonly #now: () => number;
  /** Of organizations with a limit. */
  readonly #buckets = new Map<string, Bucket>();

  /** @param now a monotonic clock, in ms. */
  constructor(limits: OrganizationLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Answers 429 in place of a route, while the organization of its token is beyond its rate, or
   * floods a full overflow lane.
   */
  readonly before = (route: Middleware<AuthenticatedState>): Middleware<AuthenticatedState> => {
    return (ctx, next) => {
      this.#limits.overflow?.requireRoom(ctx.state.organization);
      this.admit(ctx.state.organization, ctx.state.rate);
      this.charge(ctx.state.organization, 1);
      return route(ctx, next);
    };
  };

  /**
   * @param ownRate in place of the common one; 0 for no limit.
   * @throws {RequestError} with when to repeat the request.
   */
  admit(organization: string, ownRate: number | undefined): void {
    const rate = ownRate ?? this.#limits.rate;
    if (rate > 0) {
      const bucket = this.#filled(organization, rate);
      if (bucket.free >= 1) return;
      this.#limits.onLimited(organization);
      throw rateExceeded(bucket);
    }
    if (this.#buckets.size > 0) this.#buckets.delete(organization);
  }

  /** Takes events of an admitted request, beside the one that it took. */
  charge(organization: string, events: number): void {
    if (this.#buckets.size === 0) return;
    const bucket = this.#buckets.get(organization);
    if (bucket !== undefined) bucket.free -= events;
  }

  #filled(organization: string, rate: number): Bucket {
    const now = this.#now();
    const { free, at } = this.#buckets.get(organization) ?? { free: rate, at: now };
    const bucket = { free: Math.min(rate, free + ((now - at) / 1_000) * rate), at: now, rate };
    this.#buckets.set(organization, bucket);
    return bucket;
  }
}

/** With the fields of draft-ietf-httpapi-ratelimit-headers, whose window is a second. */
function rateExceeded({ free, rate }: Bucket): RequestError {
  const wait = Math.ceil((1 - free) / rate);
  const headers = {
    'Retry-After': String(wait),
    RateLimit: `"organization";r=0;t=${wait}`,
    'RateLimit-Policy': `"organization";q=${rate};w=1`,
  };
  const detail = `The organization has sent events faster than its rate: ${rate} a second.`;
  return new RequestError('too-many-requests', detail, [], undefined, headers);
}
