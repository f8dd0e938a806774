import type { Assumptions } from './assumptions.ts';
import type { EventCosts } from './costs.ts';

/** What a steady rate needs so that its bursts are taken, too. */
export interface Sizing {
  /** Events/s. */
  rate: number;
  /** Each pod of ingest and workers has one core. */
  ingestPods: number;
  workerPods: number;
  /** A Redis works on one core. */
  redisServers: number;
  /** Of all Redis together, in bytes, with that of the keys. */
  redisMemory: number;
  keyMemory: number;
  postgresCores: number;
  postgresServers: number;
  /** Bytes that Postgres keeps of a day. */
  bytesPerDay: number;
  /** Bytes of all retained days with `HOT_DAYS`. The newest days are in both places. */
  withHotDays: { postgres: number; archive: number };
  /** A month: of cores and memory, of the disk that holds the retained days, or with `HOT_DAYS`. */
  dollars: { servers: number; disk: number; withHotDays: number };
  /** The part of which one is not enough. Pods of ingest and workers are added as needed. */
  givesWayFirst: 'nothing' | 'Redis' | 'Postgres';
}

/** What an installation does at most: events/s, and bytes of Redis for what waits. */
export interface Limits {
  accepts: number;
  stores: number;
  memory: number;
}

const hoursPerMonth = 730;

/** Independent callers come unevenly: a second of a burst has up to so many times its mean. */
const noise = 1.05;
const gib = 2 ** 30;

/** Events/s that workers store, so that the backlog of a burst is stored in time. */
function drainRate(rate: number, { burstFactor, burstSeconds, caughtUpSeconds }: Assumptions): number {
  return (rate * (burstFactor * burstSeconds + caughtUpSeconds)) / (burstSeconds + caughtUpSeconds);
}

/** Says what is needed for so many events a second. */
export function sizeFor(rate: number, costs: EventCosts, assumed: Assumptions): Sizing {
  const { flow, rush } = costs;
  const peak = rate * assumed.burstFactor * noise;
  const drained = drainRate(rate, assumed);
  const cores = (steadyUs: number, rushRate: number, rushUs: number): number =>
    Math.max((rate * steadyUs) / assumed.steadyUse, (rushRate * rushUs) / assumed.rushUse) / 1e6;
  const ingestPods = Math.ceil(cores(flow.ingest, peak, flow.ingest));
  const workerPods = Math.ceil(cores(flow.worker, drained, rush.worker));
  const redisServers = Math.ceil(cores(flow.redis, peak, rush.redis));
  const postgresCores = Math.ceil(cores(flow.postgres, drained, rush.postgres));
  const logged = drained * costs.wal;
  // Room for half as much again: Redis needs memory while it rewrites its file.
  const backlogMemory = 1.5 * (peak - drained) * assumed.burstSeconds * costs.waiting;
  const keyMemory = 1.5 * rate * assumed.keySeconds * assumed.keyBytes;
  const redisMemory = backlogMemory + keyMemory;
  const eventsPerDay = rate * 86_400;
  const bytesPerDay = eventsPerDay * costs.kept;
  const coldDays = assumed.retentionDays - assumed.hotDays;
  const withHotDays = {
    postgres: eventsPerDay * (assumed.hotDays * costs.kept + coldDays * costs.cold.executions),
    archive: eventsPerDay * assumed.retentionDays * costs.cold.archive,
  };
  const postgresServers = Math.ceil(
    Math.max(postgresCores / assumed.postgresCores, logged / assumed.diskBytesPerSecond),
  );
  const { coreHour, gibMemoryHour, gibDiskMonth, gibBucketMonth } = assumed.prices;
  const allCores = ingestPods + workerPods + redisServers + postgresCores;
  return {
    rate,
    ingestPods,
    workerPods,
    redisServers,
    redisMemory,
    keyMemory,
    postgresCores,
    postgresServers,
    bytesPerDay,
    withHotDays,
    dollars: {
      servers: hoursPerMonth * (allCores * coreHour + (redisMemory / gib) * gibMemoryHour),
      disk: ((bytesPerDay * assumed.retentionDays) / gib) * gibDiskMonth,
      withHotDays: (withHotDays.postgres / gib) * gibDiskMonth + (withHotDays.archive / gib) * gibBucketMonth,
    },
    givesWayFirst:
      Math.max(redisServers, postgresServers) === 1
        ? 'nothing'
        : redisServers >= postgresServers
          ? 'Redis'
          : 'Postgres',
  };
}

/** What an installation of that size does at most. */
export function limitsOf(sizing: Sizing, { flow, rush }: EventCosts, assumed: Assumptions): Limits {
  const most = (cores: number, us: number): number => (cores * assumed.rushUse * 1e6) / us;
  return {
    accepts: Math.min(most(sizing.ingestPods, flow.ingest), most(sizing.redisServers, rush.redis)),
    stores: Math.min(most(sizing.workerPods, rush.worker), most(sizing.postgresCores, rush.postgres)),
    memory: sizing.redisMemory - sizing.keyMemory,
  };
}

/** Events/s that one worker drains on a machine whose cores it shares with Redis and Postgres. */
export function drainRateOn(cores: number, { rush }: EventCosts): number {
  return Math.min(1e6 / rush.worker, (cores * 1e6) / (rush.redis + rush.worker + rush.postgres));
}

/** Seconds until that worker has stored what waits, while more comes and takes its part. */
export function catchUpSeconds(waiting: number, rate: number, cores: number, costs: EventCosts): number {
  const left = cores - (rate * (costs.flow.ingest + costs.flow.redis)) / 1e6;
  return waiting / drainRateOn(left, costs);
}
