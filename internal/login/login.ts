import type { Context, PageRoute } from '../intake/http/page-route.ts';
import type { LoginMetrics } from './login-metrics.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { Access, AccessLog, NoteEntry } from './access-log.ts';
import { AttemptLimiter } from './attempt-limiter.ts';
import { BearerLogin } from './bearer.ts';
import { CodeFlow } from './code-flow.ts';
import { IdTokens } from './id-token.ts';
import { Entrance } from './entrance.ts';
import { linkRoute } from './link-route.ts';
import { LoginCookie } from './login-cookie.ts';
import { logoutRoutes } from './logout-routes.ts';
import { oidcRoutes } from './oidc-routes.ts';
import type { OneTimeLink } from './one-time-link.ts';
import type { OrganizationMap } from './organization-map.ts';
import type { Page } from './page.ts';
import { Provider } from './provider.ts';
import type { Sessions } from './sessions.ts';
import { tokenRoutes } from './token-routes.ts';
import type { Act, FindViewer, Viewer } from './viewer.ts';
import { Viewers, type Tokens } from './viewers.ts';

/** People who log in at an OpenID Connect provider. */
export interface OidcOptions {
  issuer: URL;
  /** Turns on logins by the console itself. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  scopes: string;
  groupsClaim: string;
  organizations: OrganizationMap;
  /** The client id of a proxy that logs people in; turns on id tokens from it. */
  proxyAudience?: string | undefined;
}

export interface LoginOptions {
  /** The https address of the console, for redirects and the provider's answer. */
  publicUrl: URL;
  sessions: Sessions;
  accessLog: AccessLog;
  tokens: Tokens;
  oidc?: OidcOptions | undefined;
  oneTimeLink?: OneTimeLink | undefined;
  /** If false, everybody is only a reader. */
  manages: boolean;
  /** Delays the answers to many wrong tokens; the API shares it. */
  limitWrongTokens: () => Promise<void>;
  /** The key of login cookies, which all consoles share. */
  cookieKey: () => Promise<Uint8Array>;
  /** The address that a request counts for before anybody has logged in. */
  addressOf: (ctx: Context) => string;
  page: Page;
  metrics: LoginMetrics;
  logger: Logger;
}

export interface Login {
  findViewer: FindViewer;
  routes: readonly PageRoute[];
  /**
   * Records in the access log that the viewer reads an organization, or what else the viewer does.
   */
  noteAccess: (ctx: Context, viewer: Viewer, organization: string, action?: Access['action'], detail?: string) => void;
  /** Records an act before it is done. @throws {RequestError} if the log cannot be written now. */
  noteFirst: (ctx: Context, viewer: Viewer, organization: string, act: Act, detail: string) => Promise<void>;
  /** The id token of a person who has logged in within the last hour. */
  proofOf: (ctx: Context) => Promise<string | undefined>;
}

/** The login of the web console: identifies viewers, and serves the ways in and out. */
export function createLogin(options: LoginOptions): Login {
  const { oidc, oneTimeLink: link, sessions, tokens, publicUrl, page, metrics, logger, limitWrongTokens } = options;
  const note: NoteEntry = (ctx, { subject, name, organization, action, detail }) => {
    options.accessLog.note({ subject, name, organization, action, detail, address: options.addressOf(ctx) });
  };
  const provider = oidc && new Provider({ ...oidc, clientId: oidc.clientId ?? oidc.proxyAudience ?? '' });
  const people = oidc && { ...oidc, issuer: issuerOf(oidc.issuer) };
  const audience = oidc?.proxyAudience;
  const bearer =
    provider && audience !== undefined
      ? new BearerLogin({ idTokens: new IdTokens(provider, [audience]), limitWrongTokens, logger })
      : undefined;
  const viewers = new Viewers({
    sessions,
    tokens,
    people,
    bearer,
    hasLinks: link !== undefined,
    manages: options.manages,
    limitUnknown: limitWrongTokens,
  });
  const ownLogin = oidc?.clientId === undefined ? undefined : oidc;
  const entrance = new Entrance({ publicUrl, sessions, page, provider: ownLogin?.issuer.host, metrics, logger });
  const routes = [
    ...tokenRoutes({ publicUrl, entrance, viewers, tokens, limitWrongTokens, metrics, note }),
    ...logoutRoutes({ publicUrl, sessions, entrance, limitUnknown: limitWrongTokens, note }),
  ];
  if (provider !== undefined && ownLogin !== undefined) {
    const { scopes, groupsClaim } = ownLogin;
    const redirectUri = `${publicUrl.origin}${entrance.base}/login/callback`;
    const flow = new CodeFlow({ provider, redirectUri, scopes, groupsClaim });
    routes.push(
      ...oidcRoutes({
        flow,
        entrance,
        viewers,
        cookie: new LoginCookie(options.cookieKey),
        attempts: new AttemptLimiter(),
        addressOf: options.addressOf,
        limitUnknown: limitWrongTokens,
        metrics,
        logger,
        note,
      }),
    );
  }
  if (link !== undefined) {
    routes.push(linkRoute({ publicUrl, link, entrance, viewers, limitWrongTokens, metrics, note }));
  }
  return {
    findViewer: (ctx) => viewers.find(ctx),
    routes,
    proofOf: (ctx) => viewers.proofOf(ctx),
    noteAccess: (ctx, viewer, organization, action = 'looked', detail) => {
      note(ctx, { ...viewer, organization, action, detail });
    },
    noteFirst: (ctx, { subject, name }, organization, action, detail) =>
      options.accessLog.noteFirst({ subject, name, organization, action, detail, address: options.addressOf(ctx) }),
  };
}

/** Issuers are compared as texts: a URL without a path gets no trailing slash. */
export function issuerOf({ href, pathname }: URL): string {
  return pathname === '/' ? href.slice(0, -1) : href;
}
