import type { Middleware } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';
import type { AuthenticatedState } from './authenticate.ts';

export interface OrganizationLimits {
  /** Events a second for organizations without their own rate; 0 for no limit. */
  rate: number;
  /** Called for each rejected request. */
  onLimited: (organization: string) => void;
  /** Throws when events of the organization can only go to a full overflow lane. */
  overflow?: { requireRoom: (organization: string) => void } | undefined;
}

/** Events that were free at the time `at`, in ms; negative after a large request. */
interface Bucket {
  free: number;
  at: number;
  rate: number;
}

/**
 * Limits the events of each organization with a token bucket, which holds the events of a second. A
 * request is admitted while one event is free, and takes one even if it is refused or cut later. A
 * request with more events, or a large body, then takes the rest. So a bulk request beyond the rate
 * passes, and the next one waits longer.
 */
export class OrganizationLimiter {
  readonly #limits: OrganizationLimits;
  readonly #now: () => number;
  /** For organizations with a limit. */
  readonly #buckets = new Map<string, Bucket>();

  /** @param now a monotonic clock, in ms. */
  constructor(limits: OrganizationLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Answers 429 in place of a route while the token's organization is beyond its rate, or floods a
   * full overflow lane.
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
   * @param ownRate replaces the common rate; 0 for no limit.
   * @throws {RequestError} with the time of the next attempt.
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

  /** Charges further events of an admitted request, which has already taken one. */
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

/** With the header fields of draft-ietf-httpapi-ratelimit-headers; the window is a second. */
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
