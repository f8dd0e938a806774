import type { AcceptedEvent } from '../../event/event.ts';
import type { ProducerLoad, ProducerMetrics } from '../producer-metrics.ts';
import type { SpanContext } from '../../kit/telemetry/tracing.ts';
import { addedBy } from '../adding.ts';
import { jobName } from '../queue-stats.ts';
import type { Claim, IdempotencyKeys, JobClaim } from '../keys/idempotency.ts';
import { GroupCommit, heldBytesOf, type Callers, type GroupCommitLimits } from '../group-commit.ts';
import { encodeJob, encodeLargeJob } from '../job/job-encoder.ts';
import { QueueConnection, type QueueConnectionOptions } from '../queue-connection.ts';
import type { Shards } from './shards.ts';

/** Memory of events, in bytes, from which a job is encoded in steps. */
const largeJob = 524_288;

/** Most concurrent commits of large requests. */
const largeCommits = 2;

export interface LaneOptions extends Omit<QueueConnectionOptions, 'redis' | 'queueName'> {
  shards: Pick<Shards, 'all' | 'put'>;
  /** Maps the common queue of a shard to the lane's queue there. Default: the same queue. */
  queueOf?: (queueName: string) => string;
  limits: GroupCommitLimits;
  callers: Callers;
  keys: Pick<IdempotencyKeys, 'commit'>;
  /** True puts each event's seal into its job. Default: false. */
  seals?: boolean | undefined;
  /** Resolves when the next step of a large job of this organization may run. */
  rest: (organization: string) => Promise<unknown>;
  metrics: ProducerMetrics;
  /** Runs before the job of a commit is added to a shard; an error fails the commit there. */
  before?: (events: readonly AcceptedEvent[], shard: number) => Promise<void>;
  /** Runs after a commit. */
  onCommitted?: (events: readonly AcceptedEvent[]) => void;
}

/** A queue in one shard or several, with its group commit. */
export class Lane {
  readonly #options: LaneOptions;
  /** By shard index. */
  readonly #queues: readonly QueueConnection[];
  readonly #groupCommit: GroupCommit;
  /** For requests that are a large job by themselves, so that no other waits for their commits. */
  readonly #largeCommit: GroupCommit;
  /** The span that was active when each event was added. */
  readonly #points = new WeakMap<AcceptedEvent, SpanContext>();

  constructor(options: LaneOptions) {
    this.#options = options;
    const { shards, queueOf = (queueName) => queueName } = options;
    this.#queues = shards.all.map(
      ({ redis, queueName }) => new QueueConnection({ ...options, redis, queueName: queueOf(queueName) }),
    );
    const { limits, callers } = options;
    const commit = (events: AcceptedEvent[], bytes: number, claims: readonly JobClaim[]): Promise<void> =>
      this.#commit(events, bytes, claims);
    this.#groupCommit = new GroupCommit(commit, limits, callers);
    const commitsInFlight = Math.min(largeCommits, limits.commitsInFlight);
    this.#largeCommit = new GroupCommit(commit, { ...limits, commitsInFlight }, callers);
  }

  /** The commits and events under way. */
  get load(): ProducerLoad {
    const [common, large] = [this.#groupCommit, this.#largeCommit];
    return { inFlight: common.inFlight + large.inFlight, buffered: common.buffered + large.buffered };
  }

  /** Opens the queue where Redis is available; elsewhere the first commit opens it. */
  async start(): Promise<void> {
    await Promise.allSettled(this.#queues.map((queue) => queue.open()));
  }

  /** Finishes the commits under way, then closes the queue. */
  async stop(): Promise<void> {
    await Promise.all([this.#groupCommit.drain(), this.#largeCommit.drain()]);
    await Promise.all(this.#queues.map((queue) => queue.close()));
  }

  /** Adds the events to one commit; see {@link GroupCommit.add}. */
  add(events: readonly AcceptedEvent[], bytes = heldBytesOf(events), claim?: Claim): Promise<void> {
    const point = this.#options.tracing?.currentSpan();
    const [first] = events;
    if (point !== undefined && first !== undefined) this.#points.set(first, point);
    return (bytes > largeJob ? this.#largeCommit : this.#groupCommit).add(events, bytes, claim);
  }

  async #commit(events: AcceptedEvent[], bytes: number, claims: readonly JobClaim[]): Promise<void> {
    const { metrics, logger, shards, onCommitted } = this.#options;
    const begun = performance.now();
    metrics.batchSize.add(events.length);
    try {
      const add = (shard: number) => this.#add(events, bytes, claims, shard);
      await this.#traced(events, () => shards.put(events.length, add));
      const left = new Set(claims.flatMap(({ claim }) => (claim.isNew ? [] : claim.sent)));
      const recorded = left.size === 0 ? events : events.filter((event) => !left.has(event));
      onCommitted?.(recorded);
      for (const { organization, kind } of recorded) metrics.accepted.add(metrics.organization(organization), kind);
    } catch (error) {
      logger.warn({ error, events: events.length }, 'commit to redis failed');
      throw error;
    } finally {
      metrics.commitSeconds.add((performance.now() - begun) / 1_000);
    }
  }

  async #add(events: AcceptedEvent[], bytes: number, claims: readonly JobClaim[], shard: number): Promise<void> {
    await this.#options.before?.(events, shard);
    const connection = this.#queues[shard];
    if (connection === undefined) throw new Error('the queue has no such shard');
    const queue = await connection.open();
    const { seals, rest } = this.#options;
    const options = { seals, rest: () => rest(events[0]?.organization ?? '') };
    const data = bytes > largeJob ? await encodeLargeJob(events, options) : encodeJob(events, options);
    const withKeys = addedBy((job) => this.#options.keys.commit(connection.redis, claims, events.length, job));
    await queue.add(jobName(events.length), data, claims.length > 0 ? withKeys : undefined);
  }

  #traced(events: AcceptedEvent[], work: () => Promise<void>): Promise<void> {
    const { tracing } = this.#options;
    if (tracing === undefined) return work();
    const points = events.flatMap((event) => this.#points.get(event) ?? []);
    return tracing.continue('commit events', points, { 'messaging.batch.message_count': events.length }, work);
  }
}
