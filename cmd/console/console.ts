import { createReadApi } from '../../internal/readapi/read-app.ts';
import { ReadRoom } from '../../internal/readapi/read-room.ts';
import { Streams } from '../../internal/readapi/stream/streams.ts';
import type { ApiServer } from '../../internal/intake/http/server.ts';
import { createWrongTokenLimiter } from '../../internal/intake/http/wrong-token-limiter.ts';
import { s3Credentials } from '../../internal/config/credentials.ts';
import type { Config } from '../../internal/config/read.ts';
import { createConsolePages, type ConsolePagesOptions } from '../../internal/console/pages.ts';
import { component, ComponentGroup, inParallel } from '../../internal/kit/lifecycle/group.ts';
import { consoleKey } from '../../internal/login/console-key.ts';
import { toYaml } from '../../internal/cluster/yaml.ts';
import { actKeysFrom, type MacKeySettings } from '../../internal/ledger/mac.ts';
import { Acts } from '../../internal/store/acts/acts.ts';
import { ConsoleAutomations } from '../../internal/store/console-automations.ts';
import { ConsoleChannels } from '../../internal/store/console-channels.ts';
import { sealAddress } from '../../internal/controller/notify/sealed-address.ts';
import { TokenDesk } from '../../internal/login/token-desk.ts';
import type { OneTimeLink } from '../../internal/login/one-time-link.ts';
import { listActivity } from '../../internal/record/list-activity.ts';
import { sendTest } from '../../internal/controller/notify/send-test.ts';
import { overdueAfterHours } from '../../internal/event/outcome/overdue.ts';
import { apiMetrics, type ApiMetrics } from '../../internal/intake/http/api-metrics.ts';
import { ArchiveReader } from '../../internal/record/archive/archive-reader.ts';
import { readerMetrics } from '../../internal/record/archive/reader-metrics.ts';
import { consoleMetrics, type PoolFigures } from '../../internal/record/console-metrics.ts';
import { streamMetrics } from '../../internal/readapi/stream/stream-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { TokenSource } from '../../internal/cluster/tokens/token-source.ts';
import { createServers, serverSettings } from '../../internal/wiring/servers.ts';
import type { ConsoleDatabase } from './database.ts';
import { createConsoleRecord } from './record.ts';
import { createConsoleLogin, loginSettings } from './login.ts';

/** The settings of the console, besides those of every process and of its database. */
export const consoleSettings = [
  ...serverSettings,
  ...loginSettings,
  'CONSOLE_PUBLIC_URL',
  'READ_RATE',
  'READ_CONCURRENCY',
  'STREAMS_PER_TOKEN',
  'STREAM_EVENTS_PER_SECOND',
  'LEDGER_MAC_KEY',
  'ARCHIVE_URL',
] as const;

export type ConsoleConfig = Config<(typeof consoleSettings)[number]>;

/** The console and its servers: HTTP first if it has a port, then HTTPS if it is on. */
export interface Console {
  component: ComponentGroup;
  servers: ApiServer[];
}

/** Who looks at the web pages. */
export type Visitors = Pick<ConsolePagesOptions, 'findViewer' | 'noteAccess' | 'ingestUrl' | 'localFiles'> &
  Partial<Pick<ConsolePagesOptions, 'proofOf'>>;

export interface ConsoleExtras {
  /** Counts the requests; standalone counts those of ingest in the same metrics. */
  requests?: ApiMetrics;
  /** The setting of its port, for errors. */
  portSetting?: string;
  oneTimeLink?: OneTimeLink;
  /** The https address of ingest, for the examples on pages. */
  ingestUrl?: URL | undefined;
  /** Files on this machine, for the examples on pages. */
  localFiles?: ConsolePagesOptions['localFiles'];
  /** Replaces the people who log in. */
  visitors?: Visitors | undefined;
}

/** Wires the console: Postgres → readers. The caller opens the databases, and starts the tokens. */
export function createConsole(
  config: Omit<ConsoleConfig, 'PORT'> & MacKeySettings & { PORT: number | undefined },
  database: ConsoleDatabase,
  tokens: TokenSource,
  telemetry: Telemetry,
  extras: ConsoleExtras = {},
): Console {
  const { requests = apiMetrics(telemetry.registry), oneTimeLink, ingestUrl, localFiles, visitors } = extras;
  const { logger, registry, probes, tracing } = telemetry;
  const pools = new Map<string | undefined, PoolFigures>();
  const metrics = consoleMetrics(registry, pools);
  const actKeys = actKeysFrom(config);
  const { onRead } = readerMetrics(registry);
  const { ARCHIVE_URL: place } = config;
  const archive = place === undefined ? undefined : new ArchiveReader(place, s3Credentials(), onRead);
  for (const { db } of [database, ...(database.others?.values() ?? [])]) archive?.of(db);
  const { record, watches, lagMsOf, writtenOf } = createConsoleRecord(database, { metrics, pools, actKeys }, telemetry);
  probes.ready.set('tokens', () => tokens.unready());
  const room = new ReadRoom();
  const streams = new Streams({
    record,
    room,
    key: consoleKey(database.db, 'stream'),
    eventsPerSecond: config.STREAM_EVENTS_PER_SECOND,
    metrics: streamMetrics(registry),
    logger,
  });
  const limits = {
    rate: config.READ_RATE,
    concurrency: config.READ_CONCURRENCY,
    streams: config.STREAMS_PER_TOKEN,
  };
  const publicUrl = config.CONSOLE_PUBLIC_URL;
  const overdueAfterMs = overdueAfterHours * 3_600_000;
  const channels = new ConsoleChannels(writtenOf, database.login.db);
  const desk = new TokenDesk(database.login.db, tokens);
  const automations = new ConsoleAutomations(writtenOf);
  const acts = new Acts(writtenOf, actKeys);
  const pages = createConsolePages({
    findViewer: (ctx) => login.findViewer(ctx),
    proofOf: (ctx) => login.proofOf(ctx),
    noteAccess: (...access) => login.noteAccess(...access),
    noteFirst: (...act) => login.noteFirst(...act),
    tokens: desk,
    automations,
    channels: {
      list: (organization) => channels.list(organization),
      seal: async (address) => {
        const key = await channels.publicKey();
        return key && sealAddress(address, key);
      },
      make: (...channel) => channels.make(...channel),
      remove: (...channel) => channels.remove(...channel),
    },
    acts,
    toYaml,
    listActivity: (...page) => listActivity(database.login.db, ...page),
    loginAgain: config.OIDC_CLIENT_ID === undefined ? undefined : '/login/oidc',
    ingestUrl,
    localFiles,
    ...visitors,
    record,
    streams,
    room,
    publicUrl,
    limits,
    readMetrics: metrics,
    overdueAfterMs,
    sendTest: (organization, channel) => sendTest(writtenOf(organization), publicUrl, { organization, ...channel }),
  });
  const limitWrongTokens = createWrongTokenLimiter();
  const parts = { tokens, limitWrongTokens, oneTimeLink, page: pages.page };
  const login = createConsoleLogin(config, database.login, parts, telemetry);
  const handler = createReadApi({
    record,
    automations,
    acts,
    tokens: desk,
    manages: config.CONSOLE_MANAGE,
    streams,
    room,
    pages: [...pages.routes, ...login.routes],
    showError: pages.showError,
    authenticate: (token) => {
      const known = tokens.authenticate(token);
      if (known.status === 'known') desk.noteUse(known.tokenId);
      return known;
    },
    publicUrl,
    trustProxy: config.TRUST_PROXY,
    limits,
    replicaLagMs: lagMsOf,
    limitWrongTokens,
    noteAccess: (access) => login.accessLog.note(access),
    noteFirst: (access) => login.accessLog.noteFirst(access),
    metrics: requests,
    readMetrics: metrics,
    logger,
    tracing,
  });
  const { portSetting } = extras;
  const servers = createServers(config, { handler, fastPath: false, logger, portSetting });
  // Streams end first, since servers wait for their answers.
  const closing = component('archive', { stop: async () => archive?.close() });
  const components = [closing, ...watches, ...login.components, inParallel('servers', servers), streams];
  return { component: new ComponentGroup('console', components, logger), servers };
}
