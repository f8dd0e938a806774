import type { Config } from '../../internal/config/read.ts';
import { firstDatabase, OrganizationMap } from '../../internal/store/organizations/organization-map.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { AsideQueues } from '../../internal/queue/aside-queues.ts';
import { movingQueue, waitingQueue } from '../../internal/queue/keys/keys.ts';
import type { Database } from '../../internal/store/database.ts';
import type { Store } from '../../internal/store/store.ts';
import { databaseMetrics } from '../../internal/worker/worker-metrics.ts';
import { Registry } from '../../internal/kit/telemetry/metrics.ts';
import { backlogMetrics } from '../../internal/queue/queue-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { consumerMetrics } from '../../internal/queue/consumer-metrics.ts';
import type { storeMetrics } from '../../internal/worker/worker-metrics.ts';
import type { BatcherLimits } from '../../internal/worker/batcher.ts';
import type { Storage } from '../../internal/worker/storage.ts';
import type { RedisAddress } from '../../internal/queue/redis.ts';
import type { durabilitySettings } from '../../internal/wiring/limits.ts';
import { redisAddresses, type redisSettings } from '../../internal/wiring/redis.ts';
import { createLane, stuck, type Lane, type LaneConfig } from './lane.ts';
import type { Rooms } from './rooms.ts';
import { inSeveralDatabases } from './storage.ts';

/** Jobs under way at once, per queue of waiting events. */
const waitingConcurrency = 20;

export interface RoutingParts {
  config: LaneConfig & Config<'QUEUE_NAME' | (typeof redisSettings)[number] | (typeof durabilitySettings)[number]>;
  rooms: Rooms;
  /** The addresses of all shards, including those that no longer take events. */
  addresses: readonly RedisAddress[];
  /** The first database, which has the map. */
  db: Database;
  store: Store;
  others: ReadonlyMap<string, Store>;
  consumed: ReturnType<typeof consumerMetrics>;
  stored: ReturnType<typeof storeMetrics>;
  overflowed: ReturnType<typeof storeMetrics>;
}

/** What else a worker with several databases needs. */
export interface Routing {
  /** The stores of all databases, the first one first. */
  stores: ReadonlyMap<string, Store>;
  main: (limits: BatcherLimits) => Storage;
  overflow: (limits: BatcherLimits) => Storage;
  /** The lanes of the queues of events set aside. */
  lanes: Lane[];
  /** In the order of their start. */
  components: Component[];
}

/** Wires the routing of events to the databases of their organizations. */
export function createRouting(parts: RoutingParts, telemetry: Telemetry): Routing {
  const { config, rooms, db, store, consumed, stored, overflowed } = parts;
  const { logger, registry, probes, tracing } = telemetry;
  const { QUEUE_NAME: queueName } = config;
  const stores = new Map([[firstDatabase, store], ...parts.others]);
  const map = new OrganizationMap(db, logger);
  const { REQUIRE_DURABLE_REDIS: requireDurable, REDIS_ACKS: replicaAcks } = config;
  const aside = new AsideQueues({
    shards: redisAddresses(config),
    queueName,
    durability: { requireDurable, replicaAcks },
    // Hidden: ingest shows the state of Redis.
    metrics: backlogMetrics(new Registry())(),
    logger,
    tracing,
  });
  const metrics = databaseMetrics(registry);
  const several = { stores, map, aside, queueName, metrics };
  const lanes: Lane[] = [];
  const addLane = (name: string, queue: string, pingDatabase: () => Promise<unknown>): void => {
    const storage = inSeveralDatabases(several, stored, telemetry, 'aside');
    const waiting = new Map<number, number>();
    const onWaiting = (inShard: number, shard: number): void => {
      waiting.set(shard, inShard);
      metrics.waitingJobs.set(
        { database: name },
        [...waiting.values()].reduce((sum, jobs) => sum + jobs, 0),
      );
    };
    // A queue for each database, and one for moves.
    const room = rooms.aside(stores.size + 1);
    const limits = { jobs: waitingConcurrency, room, statementsInFlight: 1 };
    const options = {
      ...limits,
      addresses: parts.addresses,
      // Such a queue is in shard 0 of each Redis.
      inside: 1,
      queueName: queue,
      consumed,
      storage,
      pingDatabase,
      onWaiting,
    };
    const lane = createLane(config, options, telemetry);
    lanes.push(lane);
    probes.live.set(`waiting for ${name}`, () => stuck(lane));
    if (parts.others.has(name)) probes.degraded.set(`postgres ${name}`, () => lane.watches[0]?.databaseProblem);
  };
  for (const [name, one] of stores) addLane(name, waitingQueue(queueName, name), () => one.ping());
  addLane('moving', movingQueue(queueName), () => store.ping());
  return {
    stores,
    main: inSeveralDatabases(several, stored, telemetry, 'common'),
    overflow: inSeveralDatabases(several, overflowed, telemetry, 'overflow'),
    lanes,
    components: [map, aside],
  };
}
