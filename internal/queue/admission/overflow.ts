import { RequestError } from '../../kit/errors/request-error.ts';

export interface OverflowOptions {
  /** Events a second of one organization beyond which its events go to the lane. */
  rate: number;
  /** True while the lane takes no more events. */
  isFull: () => boolean;
  /** Called for each rejected request. */
  onLimited: (organization: string) => void;
}

/** Events that were free at `at`, in ms; `beyond`: the organization's events go to the lane. */
interface Bucket {
  free: number;
  at: number;
  beyond: boolean;
}

/**
 * Decides which events go to the overflow lane, with a token bucket for each organization. From the
 * moment its bucket is empty until it is full again, all its events go there. So they stay in
 * order, and an organization close to its rate does not switch lanes all the time.
 */
export class Overflow {
  readonly #options: OverflowOptions;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param now a monotonic clock, in ms. */
  constructor(options: OverflowOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  /**
   * Takes events of an organization. Returns true if they go to the lane.
   * @throws {RequestError} with the time of the next attempt, if the lane is full.
   */
  takes(organization: string, events: number): boolean {
    const bucket = this.#filled(organization);
    if (bucket.beyond && this.#options.isFull()) throw this.#refusal(organization, bucket);
    const { free, beyond } = bucket;
    // Events in the lane cost at most a second, so an organization that slows down leaves it soon.
    bucket.free = beyond ? Math.max(free - events, Math.min(free, -this.#options.rate)) : free - events;
    return beyond;
  }

  /**
   * Rejects a request before its body is read if its events could only go to a full lane.
   * @throws {RequestError} as {@link takes}.
   */
  requireRoom(organization: string): void {
    const bucket = this.#buckets.get(organization);
    if (bucket?.beyond === true && this.#options.isFull() && this.#filled(organization).beyond)
      throw this.#refusal(organization, bucket);
  }

  /** The error for events that the lane cannot take now. */
  refusalOf(organization: string): RequestError {
    return this.#refusal(organization, this.#filled(organization));
  }

  #filled(organization: string): Bucket {
    const { rate } = this.#options;
    const now = this.#now();
    let bucket = this.#buckets.get(organization);
    if (bucket === undefined) {
      bucket = { free: rate, at: now, beyond: false };
      this.#buckets.set(organization, bucket);
      return bucket;
    }
    bucket.free = Math.min(rate, bucket.free + ((now - bucket.at) / 1_000) * rate);
    bucket.at = now;
    if (bucket.free >= rate) bucket.beyond = false;
    else if (bucket.free < 1) bucket.beyond = true;
    return bucket;
  }

  /** With the header fields of draft-ietf-httpapi-ratelimit-headers; the window is a second. */
  #refusal(organization: string, { free }: Bucket): RequestError {
    const { rate, onLimited } = this.#options;
    onLimited(organization);
    const wait = Math.max(1, Math.ceil((rate - free) / rate));
    const headers = {
      'Retry-After': String(wait),
      RateLimit: `"overflow";r=0;t=${wait}`,
      'RateLimit-Policy': `"overflow";q=${rate};w=1`,
    };
    const detail = `The organization has sent events faster than ${rate} a second, and too many of them wait to be stored.`;
    return new RequestError('too-many-requests', detail, [], undefined, headers);
  }
}
