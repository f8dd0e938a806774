import { Archive } from '../../internal/record/archive/archive.ts';
import { ArchiveReader } from '../../internal/record/archive/archive-reader.ts';
import { readerMetrics } from '../../internal/record/archive/reader-metrics.ts';
import { s3Credentials } from '../../internal/config/credentials.ts';
import { ConfigError, type Config } from '../../internal/config/read.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { component, ComponentGroup, inParallel } from '../../internal/kit/lifecycle/group.ts';
import { overdueAfterHours } from '../../internal/event/outcome/overdue.ts';
import { overflowQueue } from '../../internal/queue/keys/keys.ts';
import type { Database } from '../../internal/store/database.ts';
import { createStore, type Store } from '../../internal/store/store.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { consumerMetrics } from '../../internal/queue/consumer-metrics.ts';
import {
  maintenanceMetrics,
  maintenanceMetricsOf,
  overflowStoreMetrics,
  storeMetrics,
} from '../../internal/worker/worker-metrics.ts';
import { recordActs } from '../../internal/store/acts/record-acts.ts';
import { ActRecorder } from '../../internal/worker/act-recorder.ts';
import { Maintenance } from '../../internal/worker/maintenance.ts';
import { durabilitySettings } from '../../internal/wiring/limits.ts';
import { drainedAddresses, readerRedisSettings, redisAddresses } from '../../internal/wiring/redis.ts';
import { createLane, stuck, type Lane } from './lane.ts';
import { RegisteredShards } from './registered-shards.ts';
import { createRooms } from './rooms.ts';
import { createRouting } from './routing.ts';
import { firstDatabase } from '../../internal/store/organizations/organization-map.ts';
import { createSealers, ledgerSettings, workerMacKeys } from './sealer.ts';
import { inOneDatabase } from './storage.ts';

/** Jobs of the overflow lane that are stored at once: few, so that other jobs go first. */
const overflowJobs = 2;

/** Days after today with a partition of `events`: the time to notice that maintenance fails. */
const partitionsAheadDays = 7;

/** The settings of a worker, besides those of every process. The caller opens the database. */
export const workerSettings = [
  ...readerRedisSettings,
  ...durabilitySettings,
  'QUEUE_NAME',
  'STORE_BATCH_EVENTS',
  'STORE_STATEMENTS_IN_FLIGHT',
  'WORKER_CONCURRENCY',
  'JOB_LOCK_MS',
  'RETENTION_DAYS',
  'HOT_DAYS',
  'ARCHIVE_URL',
  'MAINTENANCE_INTERVAL_MS',
  ...ledgerSettings,
] as const;

export type WorkerConfig = Config<(typeof workerSettings)[number]>;

/** @throws {ConfigError} for days that cannot be moved to an archive. */
function hotDaysOf({ HOT_DAYS: days, ARCHIVE_URL: url }: WorkerConfig): number {
  if (days > 0 && url === undefined) throw new ConfigError('HOT_DAYS needs ARCHIVE_URL, where older events live');
  if (days === 1) throw new ConfigError('HOT_DAYS must be 2 at least: streams look back for more than a day');
  return days;
}

/**
 * Wires the worker: Redis → Postgres. Closes the databases when it stops.
 * @param others the databases besides the first one, by name.
 */
export function createWorker(
  config: WorkerConfig,
  db: Database,
  telemetry: Telemetry,
  others: ReadonlyMap<string, Database> = new Map(),
): ComponentGroup {
  const { logger, registry, probes, organization } = telemetry;
  const sealers = createSealers(config, new Map([[firstDatabase, db], ...others]), telemetry);
  const archives: { close(): Promise<void> }[] = [];
  const { ARCHIVE_URL: place } = config;
  const { onRead } = readerMetrics(registry);
  const reader = place === undefined ? undefined : new ArchiveReader(place, s3Credentials(), onRead);
  if (reader !== undefined) archives.push(reader);
  const storeOf = (database: Database, name = firstDatabase): Store => {
    const archive = place === undefined ? undefined : new Archive(database, place, s3Credentials());
    if (archive !== undefined) archives.push(archive);
    reader?.of(database);
    return createStore(database, {
      macKey: workerMacKeys(config)[0],
      onStored: (stored, events) => sealers.get(name)?.onStored(stored, events >= config.STORE_BATCH_EVENTS / 2),
      findArchived: archive && ((partition, forReaders) => archive.find(partition, forReaders)),
      partitionsAhead: partitionsAheadDays,
      retentionDays: config.RETENTION_DAYS,
      hotDays: hotDaysOf(config),
      overdueAfterHours,
    });
  };
  const store = storeOf(db);
  const otherStores = new Map(Array.from(others, ([name, other]) => [name, storeOf(other, name)]));
  const consumed = consumerMetrics(registry);
  const stored = storeMetrics(registry, organization);
  const overflowed = overflowStoreMetrics(registry, stored);
  const { QUEUE_NAME: queueName, WORKER_CONCURRENCY: jobs, STORE_STATEMENTS_IN_FLIGHT: statementsInFlight } = config;
  const addresses = [...redisAddresses(config), ...drainedAddresses(config)];
  const { QUEUE_SHARDS: inside } = config;
  const rooms = createRooms();
  const parts = { config, rooms, db, store, others: otherStores, consumed, stored, overflowed, addresses };
  const routing = others.size === 0 ? undefined : createRouting(parts, telemetry);
  const pingDatabase = () => store.ping();
  const main = createLane(
    config,
    {
      addresses,
      inside,
      queueName,
      jobs,
      room: rooms.common,
      statementsInFlight,
      consumed,
      pingDatabase,
      storage: routing?.main ?? inOneDatabase(store, stored, telemetry),
    },
    telemetry,
  );
  const overflow = createLane(
    config,
    {
      addresses,
      inside,
      queueName: overflowQueue(queueName),
      jobs: overflowJobs,
      room: rooms.overflow,
      statementsInFlight: 1,
      consumed,
      pingDatabase,
      storage: routing?.overflow ?? inOneDatabase(store, overflowed, telemetry),
    },
    telemetry,
  );
  const acts = Array.from([db, ...others.values()], (one) => {
    const onError = (error: unknown, act: object) => logger.warn({ error, ...act }, 'act not recorded, retrying');
    const onRefused = (act: object) => logger.warn({ ...act }, 'act of an owner refused: no console has written it');
    return new ActRecorder(() => recordActs(one, workerMacKeys(config), onError, onRefused), logger);
  });
  const intervals = { intervalMs: config.MAINTENANCE_INTERVAL_MS, retryMs: 5_000 };
  const maintained = maintenanceMetrics(registry);
  const maintenanceOf = (one: Store, name?: string): Maintenance =>
    new Maintenance(
      one,
      intervals,
      maintenanceMetricsOf(maintained, name),
      name ? logger.child({ database: name }) : logger,
    );
  const maintenance =
    routing === undefined
      ? [maintenanceOf(store)]
      : Array.from(routing.stores, ([name, one]): Component => maintenanceOf(one, name));
  probes.live.set('progress', () => stuck(main));
  probes.live.set('overflow', () => stuck(overflow));
  // A worker is ready while it can fetch jobs from at least one shard.
  probes.ready.set('queue', () =>
    main.watches.every((watch) => watch.queueProblem) ? main.watches[0]?.queueProblem : undefined,
  );
  probes.ready.set('postgres', () => main.watches[0]?.databaseProblem);
  const lanes: Lane[] = [main, overflow, ...(routing?.lanes ?? [])];
  return new ComponentGroup(
    'worker',
    [
      component('postgres', {
        stop: async () => void (await Promise.all([db, ...others.values()].map((one) => one.destroy()))),
      }),
      component('archives', { stop: async () => void (await Promise.all(archives.map((one) => one.close()))) }),
      ...(routing?.components ?? []),
      inParallel('maintenance', maintenance),
      inParallel('acts', acts),
      inParallel('sealers', [...sealers.values()]),
      inParallel(
        'consumers',
        lanes.map(({ consuming }) => consuming),
      ),
      inParallel(
        'progress watches',
        lanes.map(({ watching }) => watching),
      ),
      new RegisteredShards({ addresses, inside, lanes: [main, overflow], logger }),
    ],
    logger,
  );
}
