import type { Context } from '../intake/http/page-route.ts';
import type { LoginMetrics, LoginWay } from './login-metrics.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import { readSessionId, sessionCookie, setCookie } from './cookies.ts';
import { loginPage } from './login-page.ts';
import { outcomePage, type Outcome } from './outcome-page.ts';
import { answerPage, leadTo, type Page } from './page.ts';
import { returnAddress } from './return-path.ts';
import type { Identity, Sessions } from './sessions.ts';

export interface EntranceOptions {
  publicUrl: URL;
  sessions: Sessions;
  page: Page;
  /** The host of the OpenID Connect provider; undefined without one. */
  provider: string | undefined;
  metrics: LoginMetrics;
  logger: Logger;
}

/** What all ways to log in share: opening the session, and the pages. */
export class Entrance {
  /** The path prefix of every link. */
  readonly base: string;
  readonly #options: EntranceOptions;

  constructor(options: EntranceOptions) {
    this.#options = options;
    this.base = options.publicUrl.pathname.replace(/\/$/, '');
  }

  /**
   * Opens a session and redirects to the page `to`. The session has a new id and the browser's old
   * session ends: an id from before the login is worth nothing after it.
   */
  async enter(
    ctx: Context,
    way: LoginWay,
    { identity, idToken }: { identity: Identity; idToken?: string },
    to: string | undefined,
  ): Promise<void> {
    const { sessions, publicUrl, metrics, logger } = this.#options;
    const earlier = readSessionId(ctx);
    if (earlier !== undefined) await sessions.close(earlier);
    setCookie(ctx, sessionCookie, await sessions.open(identity, idToken));
    metrics.count(way, 'ok');
    logger.info({ audit: true, way, subject: identity.subject, name: identity.name }, 'logged in');
    leadTo(ctx, returnAddress(publicUrl, to));
  }

  /** Shows the login page, with the error of the last attempt. */
  showForm(ctx: Context, to: string | undefined, fault?: { status: number; problem: string }): void {
    const { page, provider, publicUrl } = this.#options;
    const back = returnAddress(publicUrl, to).slice(publicUrl.origin.length);
    const body = loginPage({ base: this.base, to: back, provider, problem: fault?.problem });
    answerPage(ctx, page({ title: 'Log in', body }), fault?.status);
  }

  /** Shows the page of an unsuccessful outcome. */
  show(ctx: Context, outcome: Outcome, about: { who?: string | undefined; detail?: string | undefined } = {}): void {
    const { status, title, body } = outcomePage(outcome, { base: this.base, ...about });
    answerPage(ctx, this.#options.page({ title, body }), status);
  }
}
