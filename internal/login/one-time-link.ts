import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { isRecent } from './id-token.ts';

/** How long the link works, in ms. */
const lifetimeMs = 15 * 60_000;

/** A link that logs in to one organization, once. Each process has its own. */
export class OneTimeLink {
  readonly organization: string;
  readonly #now: () => number;
  readonly #endsAt: number;
  /** The last part of its path. */
  readonly secret = randomBytes(32).toString('base64url');
  /** Known only to this process, which also runs the controller. */
  readonly #key = randomBytes(32);
  #used = false;

  /** @param now a monotonic clock, in ms. */
  constructor(organization: string, now: () => number = () => performance.now()) {
    this.organization = organization;
    this.#now = now;
    this.#endsAt = now() + lifetimeMs;
  }

  /** True for the right secret, the first time and before the link expires. */
  use(secret: string): boolean {
    const isRight = timingSafeEqual(hash('sha256', secret, 'buffer'), hash('sha256', this.secret, 'buffer'));
    if (!isRight || this.#used || this.#now() > this.#endsAt) return false;
    this.#used = true;
    return true;
  }

  /** Stands for an id token in the session of the link: it proves an owner to this process. */
  assertion(): Promise<string> {
    return new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).setSubject(this.subject).setIssuedAt().sign(this.#key);
  }

  /** True if the assertion is of this link and at most an hour old. */
  async proves(assertion: string, organization: string): Promise<boolean> {
    if (organization !== this.organization || !isRecent(assertion)) return false;
    const options = { algorithms: ['HS256'], subject: this.subject, requiredClaims: ['iat'] };
    return jwtVerify(assertion, this.#key, options).then(
      () => true,
      () => false,
    );
  }

  get subject(): string {
    return `link:${this.organization}`;
  }

  /** Makes the link usable again after a failed login. */
  giveBack(): void {
    this.#used = false;
  }
}
