import { isGiven, readConfig, type Config } from '../../internal/config/read.ts';
import { Notifier, type NotifierOptions } from '../../internal/controller/notify/notifier.ts';
import type { Database } from '../../internal/store/database.ts';
import type { NotifyMetrics } from '../../internal/controller/notify/notify-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';

/** The settings of notifications. */
export const notifierSettings = ['ALERTMANAGER_URLS', 'WEBHOOK_ALLOW_PRIVATE'] as const;

export type NotifierConfig = Config<(typeof notifierSettings)[number]>;

/** `CONSOLE_PUBLIC_URL`; undefined in an installation without a console. @throws {ConfigError} */
export function consoleUrl(): URL | undefined {
  return isGiven('CONSOLE_PUBLIC_URL') ? readConfig(['CONSOLE_PUBLIC_URL']).CONSOLE_PUBLIC_URL : undefined;
}

/**
 * Wires the notifications of a controller about one database.
 * @param database the database, with its name among several.
 * @param links the address of the console, for links in notifications.
 * @param secretsOf finds the signing keys of a webhook.
 */
export function createNotifier(
  config: NotifierConfig,
  { db, name }: { db: Database; name?: string | undefined },
  links: URL | undefined,
  secretsOf: NotifierOptions['secretsOf'],
  { logger }: Telemetry,
  metrics: NotifyMetrics,
): Notifier {
  return new Notifier({
    db,
    database: name,
    urls: config.ALERTMANAGER_URLS,
    consoleUrl: links,
    secretsOf,
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
    metrics,
    logger,
  });
}
