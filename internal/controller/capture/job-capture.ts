import { isDeepStrictEqual } from 'node:util';
import type { DeclaredAutomation } from '../declarations/declarations.ts';
import { inTurns } from '../../kit/async/in-turns.ts';
import { settledWithin } from '../../kit/async/settled-within.ts';
import type { ClusterAccess, ConnectToCluster } from '../../cluster/cluster-access.ts';
import { EventReporter } from '../../cluster/event-reporter.ts';
import { createEvent } from '../../cluster/events.ts';
import { defaultTimes, Supervision, type SupervisionTimes } from '../../cluster/supervision.ts';
import type { Database } from '../../store/database.ts';
import { isOfStatement } from '../../store/errors.ts';
import type { CaptureMetrics } from './capture-metrics.ts';
import { describeError, type Logger } from '../../kit/telemetry/logger.ts';
import { findMissing, findOwners, withoutPresent, type Attempt } from './missing-jobs.ts';
import type { ChangedJob } from './changed-job.ts';
import { declarationsOf } from './default-declarations.ts';
import { cronJobWarnings, jobWarnings } from './job-warnings.ts';
import { JobView } from './job-view.ts';
import { recordJobs, type RecordedJobs, type QueryOptions } from './record-jobs.ts';
import type { Behind } from '../verdicts/watermark.ts';
import { Rounds, type Left, type RoundTimes } from './rounds.ts';
import { TrackedJobs, type Candidate } from './tracked-jobs.ts';
import { messageOf } from '../../kit/errors/message-of.ts';

/** Maximum number of Jobs per transaction. */
const chunkSize = 200;

/** What an attempt to follow the cluster needs. */
interface Following {
  readonly access: ClusterAccess;
  readonly end: AbortSignal;
  readonly listed: () => Promise<void>;
}

/** How long `stop` waits for a round, in ms. Closing the database ends a round that hangs. */
const stopMs = 5_000;

export interface JobCaptureOptions extends QueryOptions {
  readonly connect: ConnectToCluster;
  /** All namespaces if empty. */
  readonly namespaces: readonly string[];
  readonly db: Database;
  readonly logger: Logger;
  readonly metrics: CaptureMetrics;
  readonly times?: Partial<SupervisionTimes & RoundTimes>;
}

/**
 * Records the runs of labelled Jobs of a cluster (docs/design/captured-jobs.md). Any number of
 * processes may run it: each round takes a lock.
 */
export class JobCapture {
  readonly name = 'job capture';
  readonly #options: JobCaptureOptions;
  readonly #supervision: Supervision;
  readonly #rounds: Rounds;
  readonly #turnsMs: number;
  readonly #jobs = new TrackedJobs();
  readonly #reporter: EventReporter;
  #attempt: Attempt | undefined;
  #declared: DeclaredAutomation[] = [];
  #listedOnce = false;
  #problem: string | undefined = 'the first list of Jobs is not complete';

  constructor(options: JobCaptureOptions) {
    this.#options = options;
    const rounds: RoundTimes = { settleMs: 250, againMs: 1_000, longestMs: 30_000, turnsMs: 2_000 };
    const times = { ...defaultTimes, ...rounds, ...options.times };
    this.#turnsMs = times.turnsMs;
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
      attempt: (access, end, listed) => this.#follow({ access, end, listed }, times),
      onFailure: (error, pauseMs) => this.#failed(error, pauseMs),
    });
  }

  /** Starts to follow Jobs, even while the API server, Redis or Postgres is unavailable. */
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
   * Since when changes of Jobs have waited to be recorded, in ms since the Unix epoch; undefined if
   * none wait but those of {@link behind}.
   */
  get pendingSince(): number | undefined {
    return this.#rounds.pendingSince;
  }

  /** The organizations with more changes than a round takes; their verdicts wait longer. */
  get behind(): Behind | undefined {
    return this.#rounds.behind;
  }

  /**
   * What captured CronJobs declare: the same list until it changes; undefined while it may be old.
   */
  declarations(): DeclaredAutomation[] | undefined {
    const view = this.#problem === undefined ? this.#attempt?.view : undefined;
    if (view === undefined) return undefined;
    const declared = declarationsOf(view.cronJobs, view.capturing());
    if (!isDeepStrictEqual(declared, this.#declared)) this.#declared = declared;
    return this.#declared;
  }

  #failed(error: unknown, pauseMs: number): void {
    const { logger, metrics } = this.#options;
    this.#problem = `Jobs cannot be read: ${messageOf(error)}`;
    metrics.watchRestarts.inc();
    // Changes wait until the next complete list.
    this.#rounds.changed();
    logger.warn({ error, pauseMs }, 'job watch failed, restarting');
  }

  async #follow({ access, end, listed }: Following, times: SupervisionTimes): Promise<void> {
    const view = new JobView(this.#options.namespaces);
    this.#jobs.listing();
    let listing: Promise<void> | undefined;
    const onChange = (): void => {
      if (!view.complete) return;
      listing ??= listed().then(() => {
        if (!end.aborted) this.#listed({ view, access, end, missing: undefined });
      });
      this.#rounds.changed();
    };
    try {
      await view.follow(this.#jobs, { access, onChange, times, end });
    } finally {
      if (this.#attempt?.view === view) this.#attempt = undefined;
    }
  }

  #listed(attempt: Attempt): void {
    if (this.#problem !== undefined) this.#options.logger.info({ jobs: attempt.view.jobs.size }, 'jobs loaded');
    this.#attempt = attempt;
    this.#listedOnce = true;
    this.#problem = undefined;
    this.#jobs.listed();
    this.#rounds.changed();
  }

  /**
   * Records the first changes of each organization, and more while there is time. Resolves with the
   * organizations of the rest, which the next round takes.
   */
  async #round(): Promise<Left> {
    const attempt = this.#attempt;
    if (attempt === undefined) return undefined;
    const begun = performance.now();
    attempt.missing ??= await findMissing(attempt, this.#jobs, this.#options);
    const lost = attempt.missing.map(({ uid, organization }): ChangedJob => {
      return { uid, organization, facts: undefined, failures: [], gone: true };
    });
    const left: ChangedJob[] = [];
    for (const { items, isFirst } of inTurns([...this.#jobs.candidates(attempt.view), ...lost], chunkSize)) {
      const isLate = !isFirst && performance.now() - begun >= this.#turnsMs;
      left.push(...(isLate ? items : await this.#recordCurrent(items, attempt)));
    }
    const uids = new Set(left.map(({ uid }) => uid));
    attempt.missing = attempt.missing.filter(({ uid }) => uids.has(uid));
    this.#warn(attempt);
    return this.#problem === undefined ? new Set(left.map(({ organization }) => organization)) : undefined;
  }

  /** Resolves with the Jobs that are not recorded. */
  async #recordCurrent(jobs: readonly (ChangedJob | Candidate)[], attempt: Attempt): Promise<ChangedJob[]> {
    const candidates = jobs.filter((job) => 'asksForOwner' in job);
    const current = await this.#current(candidates, attempt);
    const uids = new Set(current.map(({ uid }) => uid));
    const left = await this.#record([...current, ...jobs.filter((job) => !('asksForOwner' in job))]);
    return [...left, ...candidates.filter(({ uid }) => !uids.has(uid))];
  }

  /**
   * Asks the API server about what a list may show too late. Leaves out Jobs that exist after all.
   */
  async #current(candidates: readonly Candidate[], attempt: Attempt): Promise<Candidate[]> {
    const owned = await findOwners(candidates, attempt);
    const known = candidates.map((each) =>
      each.asksForOwner ? this.#jobs.noteOwner(each, owned.has(each.uid)) : each,
    );
    return withoutPresent(known, ({ gone, facts }) => gone && facts.end === undefined, attempt);
  }

  #warn({ view, access, end }: Attempt): void {
    this.#options.metrics.setAside.set(this.#jobs.problems + this.#jobs.left.length);
    const warnings = jobWarnings(this.#jobs.present(view), this.#jobs.left, view.capturing());
    warnings.push(...cronJobWarnings(view.cronJobs, view.capturing()));
    this.#reporter.report(warnings, (event) => createEvent(access, event, end), end);
  }

  /**
   * Resolves with the Jobs that are not recorded. A Job that Postgres refuses is found by bisection
   * and set aside, so that it blocks neither other Jobs nor the watermark.
   */
  async #record(changed: readonly ChangedJob[]): Promise<readonly ChangedJob[]> {
    const { db, metrics } = this.#options;
    const [first] = changed;
    if (first === undefined) return [];
    let result: RecordedJobs | undefined;
    try {
      result = await recordJobs(db, changed, this.#options);
    } catch (error) {
      if (!isOfStatement(error)) throw error;
      if (changed.length === 1) {
        this.#setAside(first, describeError(error).message, error);
        return [];
      }
      const middle = Math.ceil(changed.length / 2);
      const before = await this.#record(changed.slice(0, middle));
      return [...before, ...(await this.#record(changed.slice(middle)))];
    }
    if (result === undefined) return changed;
    for (const kind of result.kinds) metrics.events.inc({ kind });
    const { refused } = result;
    const left = this.#jobs.settle(
      changed.filter(({ uid }) => !refused.has(uid)),
      result,
    );
    for (const job of changed) {
      const problem = refused.get(job.uid);
      if (problem !== undefined) this.#setAside(job, problem);
    }
    if (result.error !== undefined) throw result.error;
    return left;
  }

  #setAside(job: ChangedJob, problem: string, error?: unknown): void {
    const { namespace, name } = job.facts ?? {};
    const { uid, organization } = job;
    this.#options.logger.error({ error, organization, namespace, job: name, uid, problem }, 'job cannot be recorded');
    this.#jobs.refuse(job, problem);
  }
}
