import type { Config } from '../../internal/config/read.ts';
import { firstDatabase } from '../../internal/store/organizations/organization-map.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { component, ComponentGroup, inParallel } from '../../internal/kit/lifecycle/group.ts';
import { TokenUses } from '../../internal/queue/keys/token-uses.ts';
import { TokenKeeper } from '../../internal/controller/tokens/token-keeper.ts';
import { actKeysFrom, type MacKeySettings } from '../../internal/ledger/mac.ts';
import type { OwnedTokens } from './tokens.ts';
import { AutomationNames } from '../../internal/queue/keys/automation-names.ts';
import { countJobs } from '../../internal/queue/aside-queues.ts';
import { movingQueue, waitingQueue } from '../../internal/queue/keys/keys.ts';
import { QueueClocks } from '../../internal/queue/clocks/queue-clocks.ts';
import { connect, disconnect } from '../../internal/queue/ioredis-quirks.ts';
import { createProducerRedis, type RedisAddress, type RedisClient } from '../../internal/queue/redis.ts';
import type { ShardConnection } from '../../internal/queue/shards/shard-registry.ts';
import type { Database } from '../../internal/store/database.ts';
import { controllerMetrics, controllerMetricsOf } from '../../internal/controller/verdicts/controller-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { JobCapture } from '../../internal/controller/capture/job-capture.ts';
import type { TickOptions } from '../../internal/controller/verdicts/tick.ts';
import type { TickListener } from '../../internal/controller/verdicts/tick-listener.ts';
import { Cleaner } from '../../internal/controller/verdicts/cleaner.ts';
import { NameKeeper } from '../../internal/controller/verdicts/name-keeper.ts';
import { Ticker } from '../../internal/controller/verdicts/ticker.ts';
import { drainedShards, readerRedisSettings, takingShards, type ShardAddress } from '../../internal/wiring/redis.ts';

/**
 * The settings of the controller, besides those of every process. The caller opens the database.
 */
export const controllerSettings = [
  ...readerRedisSettings,
  'QUEUE_NAME',
  'RETENTION_DAYS',
  'METRICS_AUTOMATIONS',
  'LEDGER_MAC_KEY',
] as const;

export type ControllerConfig = Config<(typeof controllerSettings)[number]> & MacKeySettings;

/** A database, and the ticks in it. */
export interface TickedDatabase {
  db: Database;
  /** Receive the transitions of each tick. */
  listeners: readonly TickListener[];
  /** Its name among several databases, and what its ticks begin with. */
  among?: { name: string; prepare: TickOptions['prepare'] } | undefined;
}

/** The parts besides the ticks. */
export interface ControllerParts {
  databases: readonly TickedDatabase[];
  databaseOf: (organization: string) => Database;
  /** Keep the tables of declarations up to date. */
  sources: readonly Component[];
  /** The watermark waits for Jobs that the capture has not recorded. */
  capture?: Pick<JobCapture, 'pendingSince' | 'behind'> | undefined;
  /** The tokens that owners make. */
  tokens?: OwnedTokens | undefined;
}

/** Wires the controller: declarations and the record → verdicts and alerts. */
export function createController(
  config: ControllerConfig,
  { databases, databaseOf, sources, capture, tokens }: ControllerParts,
  { logger, registry, probes }: Telemetry,
): ComponentGroup {
  const { QUEUE_NAME: queueName } = config;
  const clients = new Map<RedisAddress, RedisClient>();
  /** Shards inside one Redis share a client. */
  const open = ({ address, ...shard }: ShardAddress): ShardConnection => {
    const redis = clients.get(address) ?? createProducerRedis(address);
    if (!clients.has(address)) redis.on('error', (error) => logger.debug({ error }, 'redis connection error'));
    clients.set(address, redis);
    return { redis, ...shard };
  };
  const taking = takingShards(config).map(open);
  const drained = drainedShards(config).map(open);
  const all = [...clients.values()];
  const connection = component('redis', {
    start: async () => void (await Promise.all(all.map(connect))),
    stop: async () => void (await Promise.all(all.map(disconnect))),
  });
  const beside = databases.flatMap(({ among }) => (among === undefined ? [] : [waitingQueue(queueName, among.name)]));
  const clocks = new QueueClocks({
    taking,
    drained,
    beside: beside.length === 0 ? [] : [...beside, movingQueue(queueName)],
    logger,
  });
  const metrics = controllerMetrics(registry);
  const cleaners = databases.map(({ db, among }) => {
    const log = among === undefined ? logger : logger.child({ database: among.name });
    return new Cleaner({ db, retentionDays: config.RETENTION_DAYS, logger: log });
  });
  const tickers = databases.map(({ db, listeners, among }) => {
    const ticker = new Ticker({
      db,
      readQueue: async () => {
        // Read before the queue: what is recorded by now is in the queue or stored.
        const { pendingSince: uncapturedSince, behind: uncaptured } = capture ?? {};
        const clock = await clocks.read();
        // Read after the queue: its events may have been set aside meanwhile.
        const waiting = among && (await waitingFor(all, queueName, among.name));
        return { ...clock, uncapturedSince, uncaptured, waiting };
      },
      prepare: among?.prepare,
      actKeys: actKeysFrom(config),
      listeners,
      metricsAutomations: config.METRICS_AUTOMATIONS,
      metrics: controllerMetricsOf(metrics, among?.name),
      logger: among === undefined ? logger : logger.child({ database: among.name }),
    });
    const isFirst = among === undefined || among.name === firstDatabase;
    if (isFirst) probes.ready.set('ticks', () => ticker.problem);
    else probes.degraded.set(`ticks ${among.name}`, () => ticker.problem);
    return ticker;
  });
  const keepers = taking.slice(0, 1).flatMap(({ redis, queueName: queue }): Component[] => {
    const names = new NameKeeper({ names: new AutomationNames(redis, queue), databaseOf, logger });
    const [first] = databases;
    if (tokens === undefined || first === undefined) return [names];
    const uses = new TokenUses(redis, queue);
    return [names, new TokenKeeper({ ...tokens, db: first.db, databaseOf, uses, logger })];
  });
  return new ComponentGroup(
    'controller',
    [connection, ...sources, inParallel('tickers', [...tickers, ...cleaners, ...keepers])],
    logger,
  );
}

/** Why events for a database wait beside the queue; undefined if none do. */
async function waitingFor(
  shards: readonly RedisClient[],
  queueName: string,
  database: string,
): Promise<string | undefined> {
  const isEmpty = async (queue: string): Promise<boolean> =>
    (await Promise.all(shards.map((redis) => countJobs(redis, queue)))).every((jobs) => jobs === 0);
  const waits = async (): Promise<string | undefined> => {
    if (!(await isEmpty(waitingQueue(queueName, database)))) return 'Events wait for the database.';
    if (!(await isEmpty(movingQueue(queueName)))) return 'Events wait for the end of a move.';
    return undefined;
  };
  // Checks twice: between two counts, a job may move to a queue that was counted before.
  return (await waits()) ?? (await waits());
}
