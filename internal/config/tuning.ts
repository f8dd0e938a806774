import { str } from 'envalid';
import { ConfigError } from './secret-files.ts';
import { flag, ratio, wholeNumber } from './validators.ts';

const mebi = 1024 * 1024;

/**
 * Constants that tests, benchmarks and `make run` override, all in one variable:
 * `TUNING="JOB_LOCK_MS=1000 FAST_PATH=false"`. Operators have no reason to change them.
 */
export const tuning = {
  FAST_PATH: flag({ default: true, desc: 'false serves the same API with plain Koa, at more CPU time per event' }),
  BODY_LIMIT_BYTES: wholeNumber({ min: 1_024, max: 8 * mebi, default: 262_144, desc: 'Largest body of one event' }),
  BACKLOG_MAX_JOBS: wholeNumber({
    min: 1,
    max: 1_000_000_000,
    default: 1_000_000,
    desc: 'Jobs in the queue at which ingest starts to answer 503',
  }),
  REDIS_MAX_MEMORY_RATIO: ratio({
    default: 0.75,
    desc: "Share of Redis' maxmemory at which ingest starts to answer 503",
  }),
  OVERFLOW_SHARE: ratio({ default: 0.5, desc: 'Share of both limits above at which the overflow lane is full' }),
  COMMITS_IN_FLIGHT: wholeNumber({
    min: 1,
    max: 64,
    default: 4,
    desc: 'Most concurrent commits to Redis; a second one starts only for a full batch',
  }),
  BUFFER_EVENTS: wholeNumber({
    min: 1,
    max: 1e6,
    default: 20_000,
    desc: 'Waiting events at which ingest starts to answer 503',
  }),
  WORKER_CONCURRENCY: wholeNumber({ min: 1, max: 10_000, default: 100, desc: 'Most concurrent jobs of a worker' }),
  STORE_BATCH_EVENTS: wholeNumber({
    min: 1,
    max: 20_000,
    default: 2_000,
    desc: 'Approximate limit of events in one statement',
  }),
  STORE_STATEMENTS_IN_FLIGHT: wholeNumber({
    min: 1,
    max: 16,
    default: 2,
    desc: 'Most concurrent statements to Postgres',
  }),
  JOB_LOCK_MS: wholeNumber({
    min: 1_000,
    max: 600_000,
    default: 15_000,
    desc: 'Time until another worker takes over the jobs of a dead one, plus or minus a third',
  }),
  MAINTENANCE_INTERVAL_MS: wholeNumber({
    min: 1_000,
    max: 86_400_000,
    default: 600_000,
    desc: 'Time between two runs of partition maintenance',
  }),
  ERASE_BATCH_EVENTS: wholeNumber({
    min: 1,
    max: 1e6,
    default: 50_000,
    desc: 'Most events that one transaction erases',
  }),
  READ_CONCURRENCY: wholeNumber({
    min: 1,
    max: 10_000,
    default: 4,
    desc: 'Concurrent requests of one read token at one console',
  }),
  STREAMS_PER_TOKEN: wholeNumber({ min: 1, max: 10_000, default: 20, desc: 'Open streams of one read token' }),
  STREAM_EVENTS_PER_SECOND: wholeNumber({ min: 1, max: 10_000, default: 200, desc: 'Most events on one stream' }),
  TOKENS_ACCOUNT_DIR: str({
    default: '/var/run/secrets/kubernetes.io/serviceaccount',
    desc: "Folder where Kubernetes mounts the pod's account",
  }),
};

export type TuningName = keyof typeof tuning;

/**
 * Parses `TUNING`: texts by name.
 * @throws {ConfigError} that names the first part that assigns to no constant.
 */
export function parseTuning(text = ''): Partial<Record<TuningName, string>> {
  const parts = text.split(/\s+/).filter((part) => part !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [name = '', ...value] = part.split('=');
      if (name in tuning && value.length > 0) return [name, value.join('=')];
      throw new ConfigError(`TUNING has no constant ${name}; it takes NAME=value, with spaces between`);
    }),
  );
}
