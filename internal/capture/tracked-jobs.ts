import { isDeepStrictEqual } from 'node:util';
import type { JobManifest, PodManifest } from './batch.ts';
import type { ChangedJob } from './changed-job.ts';
import type { JobView } from './job-view.ts';
import { readJob, type JobFacts } from './read-job.ts';
import { readPod, type PodFailure } from './read-pod.ts';
import type { RecordedJobs } from './record-jobs.ts';

/** A Job that any attempt has seen. */
interface TrackedJob {
  facts: JobFacts;
  /** Counts its changes. */
  version: number;
  /** The version whose events are all recorded. */
  recorded: number;
  /** It has a row: it is recorded to its end, also if its label is removed. */
  known: boolean;
}

/** A changed Job that was in a list. */
export interface Candidate extends ChangedJob, Pick<JobFacts, 'namespace' | 'name'> {
  readonly facts: JobFacts;
}

/**
 * What is known about Jobs and their failed Pods. It survives the attempts, so that a Job is not
 * lost that changed and was deleted between two rounds.
 */
export class TrackedJobs {
  readonly #jobs = new Map<string, TrackedJob>();
  /** Failures of Pods, by the UID of the Job and by their key. */
  readonly #failures = new Map<string, Map<string, PodFailure & { readonly namespace: string }>>();

  /** Takes a version of a Job. Returns its UID. */
  onJob(manifest: JobManifest): string {
    const facts = readJob(manifest);
    const job = this.#jobs.get(facts.uid);
    if (job === undefined) this.#jobs.set(facts.uid, { facts, version: 1, recorded: 0, known: false });
    else if (!isDeepStrictEqual(job.facts, facts)) Object.assign(job, { facts, version: job.version + 1 });
    return facts.uid;
  }

  /** Takes a version of a Pod. */
  onPod(manifest: PodManifest): undefined {
    const pod = readPod(manifest);
    if (pod === undefined || pod.failures.length === 0) return undefined;
    const failures = this.#failures.get(pod.jobUid) ?? new Map<string, PodFailure & { namespace: string }>();
    this.#failures.set(pod.jobUid, failures);
    for (const failure of pod.failures) {
      if (failures.has(failure.key)) continue;
      failures.set(failure.key, { ...failure, namespace: pod.namespace });
      const job = this.#jobs.get(pod.jobUid);
      if (job !== undefined) job.version += 1;
    }
    return undefined;
  }

  /** Notes which Jobs have a row. */
  know(uids: Iterable<string>): void {
    for (const uid of uids) {
      const job = this.#jobs.get(uid);
      if (job !== undefined) job.known = true;
    }
  }

  /** All of them that are in this view. */
  present(view: JobView): JobFacts[] {
    return [...view.jobs].flatMap((uid) => this.#jobs.get(uid)?.facts ?? []);
  }

  has(uid: string): boolean {
    return this.#jobs.has(uid);
  }

  /** The Jobs that may have new events. Forgets those that are gone and were never captured. */
  candidates(view: JobView): Candidate[] {
    const [present, organizationOf] = [view.jobs, view.capturing()];
    const candidates: Candidate[] = [];
    for (const [uid, { facts, version, recorded, known }] of this.#jobs) {
      const gone = !present.has(uid);
      const organization = organizationOf(facts);
      if (organization === undefined && !known) {
        if (gone) this.forget(uid);
      } else if (gone || version > recorded) {
        const { namespace, name } = facts;
        const failures = this.#failuresOf(facts);
        candidates.push({ uid, namespace, name, organization, facts, failures, gone, version });
      }
    }
    return candidates;
  }

  /** Takes the result of a round. Returns true if all of its Jobs are recorded. */
  settle(changed: readonly ChangedJob[], { done, known }: RecordedJobs): boolean {
    this.know(known);
    let all = true;
    for (const { uid, gone, version = 0 } of changed) {
      // Without a row it has not started: it has no events yet.
      const settled = done.has(uid) || !known.has(uid);
      const job = this.#jobs.get(uid);
      if (settled && job !== undefined) job.recorded = version;
      if (settled && gone) this.forget(uid);
      all &&= settled;
    }
    return all;
  }

  forget(uid: string): void {
    this.#jobs.delete(uid);
    this.#failures.delete(uid);
  }

  /** Forgets the failures of Pods whose Job no list has. */
  forgetOrphans(): void {
    for (const uid of this.#failures.keys()) if (!this.#jobs.has(uid)) this.#failures.delete(uid);
  }

  /** An owner in another namespace is a lie: Kubernetes knows none. */
  #failuresOf({ uid, namespace }: JobFacts): PodFailure[] {
    return [...(this.#failures.get(uid)?.values() ?? [])].filter((failure) => failure.namespace === namespace);
  }
}
