import type { JobFacts } from './read-job.ts';
import type { PodFacts, PodFailure } from './read-pod.ts';

/** Maximum number of failures recorded per Job; one further event says that there are more. */
const mostOfJob = 100;

/** Maximum bytes of failures kept per namespace, as UTF-16. */
const mostBytes = 4 * 1024 * 1024;

/** The size of a failure whose event is recorded, in bytes. */
const keyBytes = 256;

interface KeptFailure extends PodFailure {
  readonly namespace: string;
  readonly bytes: number;
}

/**
 * The failures of Pods, by Job. Memory is bounded per namespace; a failure beyond the bound is
 * mentioned only in the last event of its Job.
 */
export class PodFailures {
  readonly #ofJobs = new Map<string, Map<string, KeptFailure>>();
  /** Bytes by namespace. */
  readonly #bytes = new Map<string, number>();

  /** Adds the failures of a Pod. Returns true if any is new. */
  add({ jobUid, namespace, failures }: PodFacts): boolean {
    const kept = this.#ofJobs.get(jobUid) ?? new Map<string, KeptFailure>();
    this.#ofJobs.set(jobUid, kept);
    const before = kept.size;
    for (const failure of failures) {
      if (kept.has(failure.key) || kept.has(more.key)) continue;
      const bytes = keyBytes + 2 * (failure.sentence.length + failure.reason.length + failure.message.length);
      const fits = kept.size < mostOfJob && (this.#bytes.get(namespace) ?? 0) + bytes <= mostBytes;
      const taken = fits ? failure : { ...more, at: failure.at };
      this.#keep(kept, { ...taken, namespace, bytes: fits ? bytes : keyBytes });
    }
    return kept.size > before;
  }

  /** The failures of a Job. A claimed owner in another namespace is false: Kubernetes has none. */
  of({ uid, namespace }: Pick<JobFacts, 'uid' | 'namespace'>): PodFailure[] {
    return [...(this.#ofJobs.get(uid)?.values() ?? [])].filter((failure) => failure.namespace === namespace);
  }

  /** Forgets the texts of a Job's failures once their events are recorded. */
  recorded(jobUid: string): void {
    const kept = this.#ofJobs.get(jobUid);
    for (const failure of kept?.values() ?? []) {
      if (kept === undefined || failure.bytes === keyBytes) continue;
      this.#count(failure.namespace, keyBytes - failure.bytes);
      kept.set(failure.key, { ...failure, sentence: '', reason: '', message: '', bytes: keyBytes });
    }
  }

  forget(jobUid: string): void {
    for (const { namespace, bytes } of this.#ofJobs.get(jobUid)?.values() ?? []) this.#count(namespace, -bytes);
    this.#ofJobs.delete(jobUid);
  }

  /** Forgets the failures of Pods whose Job is unknown. */
  keep(isKnown: (jobUid: string) => boolean): void {
    for (const uid of this.#ofJobs.keys()) if (!isKnown(uid)) this.forget(uid);
  }

  #keep(kept: Map<string, KeptFailure>, failure: KeptFailure): void {
    kept.set(failure.key, failure);
    this.#count(failure.namespace, failure.bytes);
  }

  #count(namespace: string, bytes: number): void {
    const sum = (this.#bytes.get(namespace) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(namespace);
    else this.#bytes.set(namespace, sum);
  }
}

/** Stands for all further failures of a Job. */
const more: Omit<PodFailure, 'at'> = {
  key: 'WARNING/more',
  sentence: 'Further failures of Pods of this Job are not recorded',
  reason: 'TooManyFailures',
  message: '',
};
