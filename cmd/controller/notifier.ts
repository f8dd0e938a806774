import { ConfigError, isGiven, readConfig, type Config } from '../../internal/config/read.ts';
import { actKeysFrom, type MacKeySettings } from '../../internal/ledger/mac.ts';
import type { AddressKeeper } from '../../internal/controller/notify/address-keeper.ts';
import { consoleNamespace } from '../../internal/expectation/read-automation.ts';
import { Notifier, type NotifierOptions } from '../../internal/controller/notify/notifier.ts';
import type { Database } from '../../internal/store/database.ts';
import type { NotifyMetrics } from '../../internal/controller/notify/notify-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';

/** The settings of notifications. */
export const notifierSettings = [
  'ALERTMANAGER_URLS',
  'CHANNEL_ALLOW_PRIVATE',
  'SMTP_URL',
  'SMTP_FROM',
  'LEDGER_MAC_KEY',
] as const;

export type NotifierConfig = Config<(typeof notifierSettings)[number]> & MacKeySettings;

/** `CONSOLE_PUBLIC_URL`; undefined in an installation without a console. @throws {ConfigError} */
export function consoleUrl(): URL | undefined {
  return isGiven('CONSOLE_PUBLIC_URL') ? readConfig(['CONSOLE_PUBLIC_URL']).CONSOLE_PUBLIC_URL : undefined;
}

/**
 * Wires the notifications of a controller about one database.
 * @param database the database, with its name among several.
 * @param links the address of the console, for links in notifications.
 * @param secretsOf finds what the Secret of a channel holds.
 * @param addresses finds the addresses of channels that owners made in the console.
 */
export function createNotifier(
  config: NotifierConfig,
  { db, name }: { db: Database; name?: string | undefined },
  links: URL | undefined,
  secretsOf: NotifierOptions['secretsOf'],
  { logger }: Telemetry,
  metrics: NotifyMetrics,
  addresses?: AddressKeeper,
): Notifier {
  return new Notifier({
    db,
    database: name,
    urls: config.ALERTMANAGER_URLS,
    consoleUrl: links,
    secretsOf: (channel) =>
      channel.namespace === consoleNamespace ? (addresses?.secretsOf(db, channel) ?? []) : secretsOf(channel),
    allowPrivate: config.CHANNEL_ALLOW_PRIVATE,
    mailServer: mailServerOf(config),
    actKeys: actKeysFrom(config),
    metrics,
    logger,
  });
}

/** @throws {ConfigError} without a sender. */
function mailServerOf({ SMTP_URL: url, SMTP_FROM: from }: NotifierConfig): NotifierOptions['mailServer'] {
  if (url === undefined) return undefined;
  if (from === undefined) throw new ConfigError('SMTP_FROM is required when SMTP_URL is set');
  return { url, from };
}
