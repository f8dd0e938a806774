import { isDeepStrictEqual } from 'node:util';
import type { JobManifest, PodManifest } from './batch.ts';
import type { ChangedJob } from './changed-job.ts';
import type { JobView } from './job-view.ts';
import { PodFailures } from './pod-failures.ts';
import { readJob, withoutCronJob, type JobFacts } from './read-job.ts';
import { readPod } from './read-pod.ts';
import type { RecordedJobs } from './record-jobs.ts';

/**
 * Maximum number of Jobs followed per namespace: about 20 MB. Kubernetes itself advises against so
 * many finished Jobs.
 */
const mostJobs = 20_000;

/** A Job that any attempt has seen. */
interface TrackedJob {
  facts: JobFacts;
  resourceVersion: string | undefined;
  /** Number of its changes. */
  version: number;
  /** The version whose events are all recorded, or refused. */
  recorded: number;
  /**
   * The organization of its row, if it has one: it is recorded to its end, even if its label is
   * removed.
   */
  organization?: string;
  /** Whether its namespace has the CronJob that it names; undefined if not checked yet. */
  hasOwner?: boolean;
  /** Why it cannot be recorded; undefined if it can. */
  problem?: string | undefined;
}

/** A changed Job that was in a list. */
export interface Candidate extends ChangedJob, Pick<JobFacts, 'namespace' | 'name'> {
  readonly facts: JobFacts;
  /** True if it is unknown whether the CronJob that it names exists. */
  readonly asksForOwner: boolean;
}

/** A Job, and what is wrong with it. */
export interface PresentJob {
  readonly facts: JobFacts;
  /** The CronJob that it names does not exist. */
  readonly isDisowned: boolean;
  readonly problem: string | undefined;
}

/**
 * What is known about Jobs and their failed Pods. It outlives the attempts, so that a Job that
 * changed and was deleted between two rounds is not lost.
 */
export class TrackedJobs {
  readonly #jobs = new Map<string, TrackedJob>();
  readonly #failures = new PodFailures();
  /** Number of Jobs followed, by namespace. */
  readonly #counts = new Map<string, number>();
  /** One Job beyond the bound, by namespace. */
  #left = new Map<string, JobFacts>();

  /** Adds a version of a Job. Returns its UID. */
  onJob(manifest: JobManifest): string {
    const facts = readJob(manifest);
    const { uid, namespace } = facts;
    const resourceVersion = manifest.metadata?.resourceVersion;
    const job = this.#jobs.get(uid);
    if (job !== undefined) {
      // Two watches may overlap, and one may be behind.
      if (isOlder(resourceVersion, job.resourceVersion)) return uid;
      job.resourceVersion = resourceVersion;
      if (!isDeepStrictEqual(job.facts, facts)) Object.assign(job, { facts, version: job.version + 1 });
      return uid;
    }
    const count = this.#counts.get(namespace) ?? 0;
    if (count >= mostJobs) {
      if (!this.#left.has(namespace)) this.#left.set(namespace, facts);
      return uid;
    }
    this.#counts.set(namespace, count + 1);
    this.#jobs.set(uid, { facts, resourceVersion, version: 1, recorded: 0 });
    return uid;
  }

  /** Adds a version of a Pod. */
  onPod(manifest: PodManifest): undefined {
    const pod = readPod(manifest);
    if (pod === undefined || pod.failures.length === 0 || !this.#failures.add(pod)) return undefined;
    const job = this.#jobs.get(pod.jobUid);
    if (job !== undefined) job.version += 1;
    return undefined;
  }

  /** Notes the organizations of Jobs that have a row. */
  know(organizations: ReadonlyMap<string, string>): void {
    for (const [uid, organization] of organizations) {
      const job = this.#jobs.get(uid);
      if (job !== undefined) job.organization = organization;
    }
  }

  /** All tracked Jobs that are in this view. */
  present(view: JobView): PresentJob[] {
    return [...view.jobs].flatMap((uid): PresentJob[] => {
      const job = this.#jobs.get(uid);
      return job === undefined
        ? []
        : [{ facts: factsOf(job), isDisowned: job.hasOwner === false, problem: job.problem }];
    });
  }

  /** One Job of each namespace that has too many Jobs to follow. */
  get left(): readonly JobFacts[] {
    return [...this.#left.values()];
  }

  /** The number of Jobs that cannot be recorded. */
  get problems(): number {
    return [...this.#jobs.values()].filter(({ problem }) => problem !== undefined).length;
  }

  has(uid: string): boolean {
    return this.#jobs.has(uid);
  }

  /** The Jobs that may have new events. Forgets those that are gone and were never captured. */
  candidates(view: JobView): Candidate[] {
    const [present, organizationOf] = [view.jobs, view.capturing()];
    const candidates: Candidate[] = [];
    for (const [uid, job] of this.#jobs) {
      const gone = !present.has(uid);
      const organization = job.organization ?? organizationOf(job.facts);
      if (organization === undefined) {
        if (gone) this.forget(uid);
      } else if (gone || job.version > job.recorded) {
        if (view.hasCronJobOf(job.facts)) job.hasOwner = true;
        const facts = factsOf(job);
        const { namespace, name, cronJob } = facts;
        const asksForOwner = cronJob !== undefined && job.hasOwner === undefined && job.organization === undefined;
        const failures = this.#failures.of(facts);
        const { version } = job;
        candidates.push({ uid, namespace, name, organization, facts, failures, gone, version, asksForOwner });
      }
    }
    return candidates;
  }

  /** Notes whether the CronJob of a Job exists. Returns the updated candidate. */
  noteOwner(candidate: Candidate, exists: boolean): Candidate {
    const job = this.#jobs.get(candidate.uid);
    if (job !== undefined) job.hasOwner = exists;
    return exists ? candidate : { ...candidate, facts: withoutCronJob(candidate.facts) };
  }

  /** Takes the result of a round. Returns those of its Jobs that are not recorded. */
  settle<Job extends ChangedJob>(changed: readonly Job[], { done, known }: RecordedJobs): Job[] {
    this.know(known);
    return changed.filter(({ uid, gone, version = 0 }) => {
      // A Job without a row has not started, so it has no events yet.
      const settled = done.has(uid) || !known.has(uid);
      const job = this.#jobs.get(uid);
      if (settled && job !== undefined) Object.assign(job, { recorded: version, problem: undefined });
      // A failure that came during the round is not recorded yet.
      if (done.has(uid) && job?.version === version) this.#failures.recorded(uid);
      if (settled && gone) this.forget(uid);
      return !settled;
    });
  }

  /** Sets aside a Job that cannot be recorded, until it changes or all are tried again. */
  refuse({ uid, gone, version = 0 }: ChangedJob, problem: string): void {
    const job = this.#jobs.get(uid);
    if (job !== undefined) Object.assign(job, { recorded: version, problem });
    if (gone) this.forget(uid);
  }

  forget(uid: string): void {
    const namespace = this.#jobs.get(uid)?.facts.namespace;
    if (namespace !== undefined) this.#counts.set(namespace, (this.#counts.get(namespace) ?? 1) - 1);
    this.#jobs.delete(uid);
    this.#failures.forget(uid);
  }

  /** Begins another list. */
  listing(): void {
    this.#left = new Map();
  }

  /** Ends a list: forgets failures of Pods without a Job, and retries refused Jobs. */
  listed(): void {
    this.#failures.keep((uid) => this.#jobs.has(uid));
    for (const job of this.#jobs.values()) if (job.problem !== undefined) job.recorded = 0;
  }
}

function factsOf(job: TrackedJob): JobFacts {
  return job.hasOwner === false ? withoutCronJob(job.facts) : job.facts;
}

/** Versions are growing numbers in every API server so far. Anything else counts as newer. */
function isOlder(version: string | undefined, than: string | undefined): boolean {
  return Number(version) < Number(than);
}
