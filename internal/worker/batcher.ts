import { BatchScheduler } from '../kit/async/batch-scheduler.ts';
import { BatchQueue, type BatchLimits, type Portion } from '../kit/async/batch-queue.ts';
import type { AcceptedEvent } from '../event/event.ts';
import { heldBytes } from '../event/held-bytes.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { SpanContext, Tracing } from '../kit/telemetry/tracing.ts';
import type { StoreMetrics } from './worker-metrics.ts';
import { RetryUntilAvailable, type RetryPauses } from './retry-until-available.ts';
import type { IsolatingStore } from './isolating-store.ts';
import type { Storage, StoreResult } from './storage.ts';

/**
 * How much of a statement's duration the next one waits, and the longest wait, in ms. In a drain
 * the wait raises the updates that stay in place from 83 % to between 86 % and 98 %.
 */
const [headStart, longestHeadStartMs] = [0.7, 200];

/**
 * Events of one organization in a job that get a portion of their own: a portion costs the worker
 * about two microseconds. A job of one organization needs none.
 */
const leastOfOrganization = 30;

/** How long events that wait for the archive are not tried again, in ms: a try may take long. */
const archivePauseMs = 10_000;

/**
 * Limits of a batch, the least time between the starts of two statements that are not full (ms),
 * and the pauses of retries.
 */
export interface BatcherLimits extends BatchLimits, RetryPauses {
  /** Most jobs that can be added before one of them is stored. */
  jobs: number;
  statementsInFlight: number;
  intervalMs: number;
  /**
   * For a database among several: the organizations that made it refuse a statement, if any.
   * Default: none, so the batcher retries.
   */
  movedBecauseOf?: (error: unknown) => ReadonlySet<string> | undefined;
}

/** A job, or a portion of one. Its group is its organization, if it has one only. */
interface WaitingJob extends Portion {
  events: AcceptedEvent[];
  redelivered: boolean;
  /** The job's span. */
  point: SpanContext | undefined;
  settle: (result: StoreResult) => void;
}

/** Why a batch cannot be stored: its events that must not be, and the result of their jobs. */
interface Refusal {
  concerns: (event: AcceptedEvent) => boolean;
  result: StoreResult;
}

/**
 * Group commit to Postgres: jobs that arrive during a statement share the next one. A statement
 * holds one organization if enough of its events wait, which suits a distributed Postgres
 * (docs/design/databases.md). While Postgres is unavailable, the batcher keeps its jobs and
 * retries. The room of their lane bounds its memory.
 */
export class Batcher implements Storage {
  readonly name = 'batcher';
  readonly #store: IsolatingStore;
  readonly #limits: BatcherLimits;
  readonly #metrics: StoreMetrics;
  readonly #retry: RetryUntilAvailable;
  readonly #tracing: Tracing | undefined;
  readonly #abandon = new AbortController();
  readonly #underWay = new Set<WaitingJob[]>();
  readonly #waiting: BatchQueue<WaitingJob>;
  readonly #scheduler: BatchScheduler;
  #storedBatches = 0;
  /** Jobs that are not settled. */
  #jobs = 0;
  /** Duration of the last statement, in ms. */
  #tookMs = 0;
  /** Which events wait for the archive, until when. */
  #archivePause: { concerns: Refusal['concerns']; until: number } | undefined;

  constructor(store: IsolatingStore, limits: BatcherLimits, metrics: StoreMetrics, logger: Logger, tracing?: Tracing) {
    this.#store = store;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#retry = new RetryUntilAvailable(limits, metrics, logger);
    this.#tracing = tracing;
    this.#waiting = new BatchQueue(limits);
    this.#scheduler = new BatchScheduler(
      () => this.#begin(),
      limits.intervalMs,
      () => this.#leastMs,
    );
  }

  async add(events: AcceptedEvent[], redelivered = false): Promise<StoreResult> {
    if (events.length === 0) return 'stored';
    if (this.#abandon.signal.aborted) return 'abandoned';
    if (this.#waitsForArchive(events)) return 'postponed';
    const point = this.#tracing?.currentSpan();
    const portions = portionsOf(events, this.#limits.batchBytes);
    this.#jobs += 1;
    let open = portions.length;
    const results = portions.map(
      (portion) =>
        new Promise<StoreResult>((resolve) => {
          const settle = (result: StoreResult): void => {
            open -= 1;
            if (open === 0) this.#jobs -= 1;
            resolve(result);
          };
          this.#waiting.add({ ...portion, count: portion.events.length, redelivered, point, settle });
        }),
    );
    this.#schedule();
    const settled = await Promise.all(results);
    return settled.find((result) => result !== 'stored') ?? 'stored';
  }

  get retrying(): boolean {
    return this.#retry.active;
  }

  /** True when all jobs are settled and no statement is under way. */
  get idle(): boolean {
    return this.#waiting.length === 0 && this.#underWay.size === 0;
  }

  /**
   * Gives back all jobs that are not known to be stored. A statement under way is repeated until it
   * succeeds; {@link storedBatches} then grows, and the new holder of the jobs finds duplicates.
   */
  withdraw(): void {
    for (const { settle } of [...this.#waiting.takeAll(), ...[...this.#underWay].flat()]) settle('withdrawn');
  }

  get storedBatches(): number {
    return this.#storedBatches;
  }

  /**
   * Does not wait for a statement under way, which may never end. If it succeeds, the next worker
   * finds duplicates.
   */
  abandon(): void {
    this.#abandon.abort();
    this.#scheduler.cancel();
    for (const { settle } of [...this.#waiting.takeAll(), ...[...this.#underWay].flat()]) settle('abandoned');
  }

  /**
   * How long a full batch lets the previous statement go ahead. If both started together, the
   * second would often reach an execution with events in both first. Its START would then come
   * late, and that update changes indexes.
   */
  get #leastMs(): number {
    return this.#underWay.size === 0 ? 0 : Math.min(this.#tookMs * headStart, longestHeadStartMs);
  }

  #waitsForArchive(events: readonly AcceptedEvent[]): boolean {
    if (this.#archivePause === undefined) return false;
    if (performance.now() < this.#archivePause.until) return events.some(this.#archivePause.concerns);
    this.#archivePause = undefined;
    return false;
  }

  #schedule(): void {
    if (this.#underWay.size < this.#limits.statementsInFlight) this.#scheduler.schedule(this.#full);
  }

  #begin(): void {
    if (this.#waiting.length === 0 || this.#underWay.size >= this.#limits.statementsInFlight) return;
    void this.#commit(this.#waiting.takeBatch());
    if (this.#waiting.length > 0) this.#schedule();
  }

  /** True when a batch needs no more jobs, or no more can arrive. */
  get #full(): boolean {
    return this.#jobs >= this.#limits.jobs || this.#waiting.fillsBatch;
  }

  async #commit(batch: WaitingJob[]): Promise<void> {
    this.#underWay.add(batch);
    this.#scheduler.begun();
    const begun = performance.now();
    await this.#traced(batch, () => this.#storeOrRetry(batch));
    this.#tookMs = performance.now() - begun;
    this.#underWay.delete(batch);
    if (this.#waiting.length > 0) this.#schedule();
  }

  #traced(batch: WaitingJob[], work: () => Promise<void>): Promise<void> {
    if (this.#tracing === undefined) return work();
    const points = batch.flatMap(({ point }) => point ?? []);
    const size = batch.reduce((sum, { count }) => sum + count, 0);
    const attributes = { 'db.system.name': 'postgresql', 'db.operation.batch.size': size };
    return this.#tracing.continue('store events', points, attributes, work);
  }

  async #storeOrRetry(batch: WaitingJob[]): Promise<void> {
    const events = batch.flatMap((job) => job.events);
    const stored = await this.#retry.untilDone(() => this.#storeOnce(events), this.#abandon.signal);
    if (stored === undefined) return settleAll(batch, 'abandoned');
    if (typeof stored !== 'number') return this.#storeOthers(batch, stored);
    const redelivered = batch.reduce((sum, job) => sum + (job.redelivered ? job.count : 0), 0);
    this.#metrics.redelivered.inc(Math.min(stored, redelivered));
    this.#storedBatches += 1;
    settleAll(batch, 'stored');
  }

  /** Resolves with the number of duplicates, or with why nothing was stored. */
  #storeOnce(events: AcceptedEvent[]): Promise<number | Refusal> {
    return this.#store.store(events).catch((error: unknown) => {
      const moved = this.#limits.movedBecauseOf?.(error);
      if (moved !== undefined) return { concerns: ({ organization }) => moved.has(organization), result: moved };
      const concerns = this.#store.waitingForArchive(error);
      if (concerns === undefined) throw error;
      this.#archivePause = { concerns, until: performance.now() + archivePauseMs };
      return { concerns, result: 'postponed' };
    });
  }

  /** Gives back the jobs that hold such an event, and stores the rest. */
  async #storeOthers(batch: WaitingJob[], { concerns, result }: Refusal): Promise<void> {
    const isOf = ({ events }: WaitingJob): boolean => events.some(concerns);
    settleAll(batch.filter(isOf), result);
    const others = batch.filter((job) => !isOf(job));
    if (others.length > 0) await this.#storeOrRetry(others);
  }
}

function settleAll(batch: WaitingJob[], result: StoreResult): void {
  for (const { settle } of batch) settle(result);
}

type JobPortion = Pick<WaitingJob, 'events' | 'bytes' | 'group'>;

/**
 * Splits the events of a job into portions, each with its memory. An organization with many events
 * gets its own portions, so that a statement can hold that organization alone. A job larger than a
 * batch becomes several portions, because its statement would take a few times its bytes.
 */
function portionsOf(events: AcceptedEvent[], mostBytes: number): JobPortion[] {
  const parts = [...Map.groupBy(events, ({ organization }) => organization)];
  if (parts.length === 1) return cut(events, mostBytes, parts[0]?.[0]);
  const isLarge = ([, part]: (typeof parts)[number]): boolean => part.length >= leastOfOrganization;
  const rest = parts.filter((part) => !isLarge(part)).flatMap(([, part]) => part);
  return [
    ...parts.filter(isLarge).flatMap(([organization, part]) => cut(part, mostBytes, organization)),
    ...(rest.length === 0 ? [] : cut(rest, mostBytes)),
  ];
}

function cut(events: readonly AcceptedEvent[], mostBytes: number, group?: string): JobPortion[] {
  const first = { events: [] as AcceptedEvent[], bytes: 0, group };
  const portions = [first];
  let last = first;
  for (const event of events) {
    const bytes = heldBytes(event);
    if (last.events.length > 0 && last.bytes + bytes > mostBytes) {
      last = { events: [], bytes: 0, group };
      portions.push(last);
    }
    last.events.push(event);
    last.bytes += bytes;
  }
  return portions;
}
