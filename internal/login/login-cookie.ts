import type { Context } from '../intake/http/page-route.ts';
import { seal, unseal } from '../intake/http/sealed.ts';
import type { LoginChecks } from './code-flow.ts';
import { clearCookie, loginCookie, readCookie, setCookie } from './cookies.ts';

/** Maximum time from the start to the end of a login, in seconds. */
const longestLogin = 600;

/** A login that this browser has begun, and the page to show afterwards. */
export type Begun = LoginChecks & { to: string };

/**
 * The cookie of a login in progress: only the browser that began the login can end it. It is
 * encrypted with a key shared by all consoles, so nobody else can make one. It expires after ten
 * minutes.
 */
export class LoginCookie {
  readonly #key: () => Promise<Uint8Array>;
  readonly #now: () => number;

  /** @param now the time now, in ms. */
  constructor(key: () => Promise<Uint8Array>, now: () => number = Date.now) {
    this.#key = key;
    this.#now = now;
  }

  /** @throws {RequestError} when the key cannot be read now. */
  async set(ctx: Context, begun: Begun): Promise<void> {
    const endsAt = this.#now() + longestLogin * 1_000;
    setCookie(
      ctx,
      loginCookie,
      seal(await this.#key(), loginCookie, JSON.stringify({ ...begun, endsAt })),
      longestLogin,
    );
  }

  /**
   * The login that the browser has begun; undefined without a valid cookie of this console.
   * @throws {RequestError} when the key cannot be read now.
   */
  async read(ctx: Context): Promise<Begun | undefined> {
    const sealed = readCookie(ctx, loginCookie);
    if (sealed === undefined || sealed === '') return undefined;
    const text = unseal(await this.#key(), loginCookie, sealed);
    if (text === undefined) return undefined;
    const { endsAt, ...begun } = JSON.parse(text) as Begun & { endsAt: number };
    return this.#now() < endsAt ? begun : undefined;
  }

  clear(ctx: Context): void {
    clearCookie(ctx, loginCookie);
  }
}
