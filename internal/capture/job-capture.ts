import type { DeclaredAutomation } from '../automations/declarations.ts';
import { settledWithin } from '../async/settled-within.ts';
import type { ClusterAccess, ConnectToCluster } from '../kubernetes/cluster-access.ts';
import { EventReporter } from '../kubernetes/event-reporter.ts';
import { createEvent } from '../kubernetes/events.ts';
import { defaultTimes, Supervision, type SupervisionTimes } from '../kubernetes/supervision.ts';
import type { Database } from '../store/database.ts';
import type { CaptureMetrics } from '../telemetry/capture-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { findMissing, withoutPresent, type Attempt } from './missing-jobs.ts';
import type { ChangedJob } from './changed-job.ts';
import { declarationsOf } from './default-declarations.ts';
import { cronJobWarnings, jobWarnings } from './job-warnings.ts';
import { JobView } from './job-view.ts';
import { recordJobs, type RecordOptions } from './record-jobs.ts';
import { Rounds, type RoundTimes } from './rounds.ts';
import { TrackedJobs } from './tracked-jobs.ts';

/** Most Jobs of one transaction. */
const chunkSize = 200;

/** Longest wait of a stop for a round, in ms. Closing the database ends a round that hangs. */
const stopMs = 5_000;

export interface JobCaptureOptions extends RecordOptions {
  readonly connect: ConnectToCluster;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly db: Database;
  readonly logger: Logger;
  readonly metrics: CaptureMetrics;
  readonly times?: Partial<SupervisionTimes & RoundTimes>;
}

/**
 * Records the runs of labelled Jobs of a cluster (ARCHITECTURE.md, "Captured Jobs"). Any number of
 * processes may do it: each round takes a lock.
 */
export class JobCapture {
  readonly name = 'job capture';
  readonly #options: JobCaptureOptions;
  readonly #supervision: Supervision;
  readonly #rounds: Rounds;
  readonly #jobs = new TrackedJobs();
  readonly #reporter: EventReporter;
  #attempt: Attempt | undefined;
  #listedOnce = false;
  #problem: string | undefined = 'the first list of Jobs is not complete';

  constructor(options: JobCaptureOptions) {
    this.#options = options;
    const times = { ...defaultTimes, settleMs: 250, againMs: 1_000, longestMs: 30_000, ...options.times };
    this.#reporter = new EventReporter({
      logger: options.logger,
      onNew: ({ reason, message, involvedObject: { namespace, name } }) =>
        options.logger.warn({ namespace, job: name, reason, refusal: message }, 'job is labelled wrongly'),
    });
    this.#rounds = new Rounds(
      () => this.#round(),
      (error) => options.logger.warn({ error }, 'recording Jobs failed, retrying soon'),
      times,
    );
    this.#supervision = new Supervision({
      connect: options.connect,
      times,
      attempt: (access, end) => this.#follow(access, end, times),
      onFailure: (error, pauseMs) => this.#failed(error, pauseMs),
    });
  }

  /** Starts to follow Jobs, with or without the API server, Redis and Postgres. */
  async start(): Promise<void> {
    this.#supervision.start();
  }

  async stop(): Promise<void> {
    await this.#supervision.stop();
    await settledWithin(stopMs, this.#rounds.stop());
    await this.#reporter.idle();
  }

  /** One sentence for the readiness probe until the first complete list; undefined afterwards. */
  unready(): string | undefined {
    return this.#listedOnce ? undefined : this.#problem;
  }

  /**
   * Since when changes of Jobs wait to be recorded, in ms since the Unix epoch; undefined if none
   * does.
   */
  get pendingSince(): number | undefined {
    return this.#rounds.pendingSince;
  }

  /** What captured CronJobs declare; undefined while it may be out of date. */
  declarations(): DeclaredAutomation[] | undefined {
    const view = this.#problem === undefined ? this.#attempt?.view : undefined;
    return view && declarationsOf(view.cronJobs, view.capturing());
  }

  #failed(error: unknown, pauseMs: number): void {
    const { logger, metrics } = this.#options;
    this.#problem = `Jobs cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    metrics.watchRestarts.inc();
    // They wait until the next complete list.
    this.#rounds.changed();
    logger.warn({ error, pauseMs }, 'job watch failed, restarting');
  }

  async #follow(access: ClusterAccess, end: AbortSignal, times: SupervisionTimes): Promise<void> {
    const view = new JobView(this.#options.namespaces);
    const onChange = (): void => {
      if (!view.complete) return;
      if (this.#attempt?.view !== view) this.#listed({ view, access, end, missing: undefined });
      this.#rounds.changed();
    };
    try {
      await view.follow(this.#jobs, { access, onChange, times, end });
    } finally {
      this.#attempt = undefined;
    }
  }

  #listed(attempt: Attempt): void {
    if (this.#problem !== undefined) this.#options.logger.info({ jobs: attempt.view.jobs.size }, 'jobs loaded');
    this.#attempt = attempt;
    this.#listedOnce = true;
    this.#problem = undefined;
    this.#jobs.forgetOrphans();
  }

  /** Resolves with true if everything is recorded. */
  async #round(): Promise<boolean> {
    const attempt = this.#attempt;
    if (attempt === undefined) return false;
    attempt.missing ??= await findMissing(attempt, this.#jobs, this.#options);
    const candidates = this.#jobs.candidates(attempt.view);
    const changed = await withoutPresent(candidates, ({ gone, facts }) => gone && facts.end === undefined, attempt);
    const lost = attempt.missing.map(({ uid }): ChangedJob => {
      return { uid, organization: undefined, facts: undefined, failures: [], gone: true };
    });
    const all = [...changed, ...lost];
    let complete = changed.length === candidates.length && this.#problem === undefined;
    for (let from = 0; from < all.length; from += chunkSize) {
      complete = (await this.#record(all.slice(from, from + chunkSize))) && complete;
    }
    if (complete) attempt.missing = [];
    this.#warn(attempt);
    return complete;
  }

  #warn({ view, access, end }: Attempt): void {
    const warnings = jobWarnings(this.#jobs.present(view), view.capturing());
    warnings.push(...cronJobWarnings(view.cronJobs, view.capturing()));
    this.#reporter.report(warnings, (event) => createEvent(access, event, end), end);
  }

  /** Resolves with false if some of them are not recorded. */
  async #record(changed: readonly ChangedJob[]): Promise<boolean> {
    const { db, metrics } = this.#options;
    const result = await recordJobs(db, changed, this.#options);
    if (result === undefined) return false;
    for (const kind of result.kinds) metrics.events.inc({ kind });
    const all = this.#jobs.settle(changed, result);
    if (result.error !== undefined) throw result.error;
    return all;
  }
}
