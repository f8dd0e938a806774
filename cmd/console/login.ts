import { ConfigError, type Config } from '../../internal/config/read.ts';
import { callerAddress } from '../../internal/intake/http/caller-address.ts';
import { AccessLog } from '../../internal/login/access-log.ts';
import { consoleKey } from '../../internal/login/console-key.ts';
import { LoginWatch } from '../../internal/login/login-watch.ts';
import { createLogin, type Login, type LoginOptions, type OidcOptions } from '../../internal/login/login.ts';
import { OrganizationMap } from '../../internal/login/organization-map.ts';
import { Sessions } from '../../internal/login/sessions.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { loginMetrics } from '../../internal/login/login-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { LoginDatabase } from './database.ts';
import { messageOf } from '../../internal/kit/errors/message-of.ts';

/**
 * The settings that say who owns what. The controller reads them too, since it trusts no console.
 */
export const oidcSettings = [
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'OIDC_SCOPES',
  'OIDC_GROUPS_CLAIM',
  'OIDC_ORGANIZATIONS',
  'OIDC_PROXY_AUDIENCE',
  'CONSOLE_MANAGE',
] as const;

/** The settings of the login to the console. */
export const loginSettings = [...oidcSettings, 'OIDC_CLIENT_SECRET', 'SESSION_IDLE_MINUTES', 'SESSION_HOURS'] as const;

type LoginConfig = Config<(typeof loginSettings)[number] | 'CONSOLE_PUBLIC_URL' | 'TRUST_PROXY'>;

/** What the login shares with the other parts of a console. */
export type LoginParts = Pick<LoginOptions, 'tokens' | 'limitWrongTokens' | 'page' | 'oneTimeLink'>;

export interface ConsoleLogin extends Login {
  accessLog: AccessLog;
  components: Component[];
}

/**
 * Wires the login to the console.
 * @throws {ConfigError} when the settings of OpenID Connect do not fit together.
 */
export function createConsoleLogin(
  config: LoginConfig,
  { db, setting }: LoginDatabase,
  parts: LoginParts,
  { logger, registry, probes }: Telemetry,
): ConsoleLogin {
  const metrics = loginMetrics(registry);
  const accessLog = new AccessLog({ db, metrics, logger });
  const watch = new LoginWatch({ db, setting, metrics, logger });
  // The console keeps serving people who are logged in while others cannot log in.
  probes.degraded.set('login', () => watch.problem);
  probes.degraded.set('access log', () => accessLog.problem);
  const times = { idleMs: config.SESSION_IDLE_MINUTES * 60_000, longestMs: config.SESSION_HOURS * 3_600_000 };
  const login = createLogin({
    ...parts,
    publicUrl: config.CONSOLE_PUBLIC_URL,
    sessions: new Sessions(db, times),
    accessLog,
    manages: config.CONSOLE_MANAGE,
    cookieKey: consoleKey(db, 'login'),
    addressOf: (ctx) => callerAddress(ctx, config.TRUST_PROXY),
    oidc: withSecret(oidcOf(config), config.OIDC_CLIENT_SECRET),
    metrics,
    logger,
  });
  return { ...login, accessLog, components: [watch, accessLog] };
}

function withSecret(oidc: OidcOptions | undefined, clientSecret: string | undefined): OidcOptions | undefined {
  return oidc && { ...oidc, clientSecret };
}

/**
 * The provider and the map of groups; undefined unless they are set.
 * @throws {ConfigError} when the settings do not fit together.
 */
export function oidcOf(config: Config<(typeof oidcSettings)[number]>): OidcOptions | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_PROXY_AUDIENCE: proxyAudience } = config;
  if (issuer === undefined) {
    const others = ['OIDC_CLIENT_ID', 'OIDC_PROXY_AUDIENCE', 'OIDC_ORGANIZATIONS'] as const;
    const alone = others.find((name) => config[name] !== undefined);
    if (alone !== undefined) throw new ConfigError(`OIDC_ISSUER is required when ${alone} is set`);
    return undefined;
  }
  if (clientId === undefined && proxyAudience === undefined) {
    throw new ConfigError('OIDC_CLIENT_ID is required when OIDC_ISSUER is set, or OIDC_PROXY_AUDIENCE');
  }
  return {
    issuer,
    clientId,
    scopes: config.OIDC_SCOPES,
    groupsClaim: config.OIDC_GROUPS_CLAIM,
    organizations: organizationsOf(config.OIDC_ORGANIZATIONS),
    proxyAudience,
  };
}

function organizationsOf(text: string | undefined): OrganizationMap {
  if (text === undefined) {
    throw new ConfigError(
      'OIDC_ORGANIZATIONS is required when OIDC_ISSUER is set: which groups read which organizations',
    );
  }
  try {
    return OrganizationMap.parse(text);
  } catch (error) {
    throw new ConfigError(`OIDC_ORGANIZATIONS ${messageOf(error)}`);
  }
}
