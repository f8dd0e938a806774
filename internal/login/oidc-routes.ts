import { AuthorizationResponseError } from 'openid-client';
import type { Context, PageRoute } from '../intake/http/page-route.ts';
import type { LoginMetrics } from './login-metrics.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import { refusedEntry, type NoteEntry } from './access-log.ts';
import type { AttemptLimiter } from './attempt-limiter.ts';
import { nameOf } from './claims.ts';
import { CodeFlowError, type CodeFlow } from './code-flow.ts';
import type { Entrance } from './entrance.ts';
import type { LoginCookie } from './login-cookie.ts';
import type { Outcome } from './outcome-page.ts';
import { leadTo } from './page.ts';
import type { Viewers } from './viewers.ts';

export interface OidcRoutesOptions {
  flow: CodeFlow;
  entrance: Entrance;
  viewers: Viewers;
  cookie: LoginCookie;
  /** Bounds how often one address makes the console ask the provider. */
  attempts: AttemptLimiter;
  addressOf: (ctx: Context) => string;
  /** Delays the answers when many callbacks belong to no login. */
  limitUnknown: () => Promise<void>;
  metrics: LoginMetrics;
  logger: Logger;
  note: NoteEntry;
}

const outcomes = {
  unavailable: 'provider-unavailable',
  refused: 'provider-refused',
  'not-valid': 'not-valid',
} as const satisfies Record<CodeFlowError['failure'], Outcome>;

/** `/login/oidc` begins a login at the provider, `/login/callback` ends it. */
export function oidcRoutes(options: OidcRoutesOptions): PageRoute[] {
  const guarded =
    (answer: (ctx: Context) => Promise<void>) =>
    async (ctx: Context): Promise<void> => {
      try {
        await answer(ctx);
      } catch (error) {
        if (!(error instanceof CodeFlowError)) throw error;
        showFailure(ctx, error, options);
      }
    };
  return [
    { path: '/login/oidc', methods: ['GET'], answer: guarded((ctx) => begin(ctx, options)) },
    { path: '/login/callback', methods: ['GET'], answer: guarded((ctx) => end(ctx, options)) },
  ];
}

/** Keeps the checks in a cookie, so that only the browser that began a login can end it. */
async function begin(ctx: Context, { flow, cookie }: OidcRoutesOptions): Promise<void> {
  const to = new URLSearchParams(ctx.querystring).get('to') ?? '';
  const { address, checks } = await flow.begin();
  await cookie.set(ctx, { ...checks, to: to.slice(0, 2_000) });
  leadTo(ctx, address.href);
}

async function end(ctx: Context, options: OidcRoutesOptions): Promise<void> {
  const { flow, entrance, viewers, metrics, cookie, attempts, limitUnknown, note } = options;
  const begun = await cookie.read(ctx);
  if (begun === undefined) {
    cookie.clear(ctx);
    await limitUnknown();
    throw new CodeFlowError('not-valid', 'the browser did not begin this login');
  }
  const address = options.addressOf(ctx);
  const seconds = attempts.begin(address);
  // Keeps the cookie: the person can reload this page.
  if (seconds !== undefined) return refuseForNow(ctx, seconds, options);
  cookie.clear(ctx);
  const { claims, idToken } = await flow.end(ctx.search, begun);
  attempts.succeeded(address);
  const identity = viewers.identityOf(claims);
  if (identity === 'not-valid') throw new CodeFlowError('not-valid', 'the subject is not valid');
  if (identity === 'too-many-groups' || identity.groups.length === 0) {
    metrics.count('oidc', 'refused');
    const subject = viewers.subjectOf(claims) ?? refusedEntry.subject;
    note(ctx, { ...refusedEntry, subject, name: nameOf(claims) });
    const outcome = identity === 'too-many-groups' ? identity : 'no-organization';
    entrance.show(ctx, outcome, { who: nameOf(claims) });
    return;
  }
  await entrance.enter(ctx, 'oidc', { identity, idToken }, begun.to);
}

function refuseForNow(ctx: Context, seconds: number, { entrance, metrics, note }: OidcRoutesOptions): void {
  metrics.count('oidc', 'refused');
  note(ctx, refusedEntry);
  ctx.set('Retry-After', String(seconds));
  entrance.show(ctx, 'too-many-attempts');
}

function showFailure(ctx: Context, error: CodeFlowError, options: OidcRoutesOptions): void {
  const { entrance, metrics, logger, note } = options;
  const { failure, cause } = error;
  const isUnavailable = failure === 'unavailable';
  metrics.count('oidc', isUnavailable ? 'unavailable' : 'refused');
  if (!isUnavailable) note(ctx, refusedEntry);
  if (isUnavailable) logger.warn({ error: cause }, 'openid connect provider does not answer');
  else logger.info({ reason: failure, error: cause }, 'login refused');
  if (isUnavailable) ctx.set('Retry-After', '5');
  entrance.show(ctx, outcomes[failure], {
    detail: cause instanceof AuthorizationResponseError ? cause.error.slice(0, 100) : undefined,
  });
}
