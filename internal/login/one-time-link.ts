import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The link works for so long, in ms. */
const lifetimeMs = 15 * 60_000;

/** A link that logs in to one organization, once. Another process has another one. */
export class OneTimeLink {
  readonly organization: string;
  readonly #now: () => number;
  readonly #endsAt: number;
  /** The last part of its path. */
  readonly secret = randomBytes(32).toString('base64url');
  #used = false;

  /** @param now a monotonic clock, in ms. */
  constructor(organization: string, now: () => number = () => performance.now()) {
    this.organization = organization;
    this.#now = now;
    this.#endsAt = now() + lifetimeMs;
  }

  /** True for the right secret, the first time, in time. */
  use(secret: string): boolean {
    const isRight = timingSafeEqual(hash('sha256', secret, 'buffer'), hash('sha256', this.secret, 'buffer'));
    if (!isRight || this.#used || this.#now() > this.#endsAt) return false;
    this.#used = true;
    return true;
  }

  /** Makes it usable again: the login failed. */
  giveBack(): void {
    this.#used = false;
  }
}
