import { organizationLabel, organizationOf } from '../declarations/manifest.ts';
import { Lists, namespacesQueries, queriesIn, type Following } from '../../cluster/lists.ts';
import type { KubernetesObject } from '../../cluster/object.ts';
import { captureLabel, type CronJobManifest, type JobManifest, type PodManifest } from './batch.ts';
import { readCronJob, type CronJobFacts } from './read-cron-job.ts';
import type { JobFacts } from './read-job.ts';

/** Receives each version of each Job and Pod, so that a short-lived one is not missed. */
export interface JobListener {
  /** Returns the UID. */
  onJob(job: JobManifest): string;
  onPod(pod: PodManifest): undefined;
}

interface NamespaceFacts {
  readonly name: string;
  readonly organization: string | undefined;
  readonly captured: boolean;
}

/** The Jobs, Pods, CronJobs and labelled namespaces of a cluster, as one attempt lists them. */
export class JobView {
  readonly #jobs: Lists<JobManifest, string>;
  readonly #pods: Lists<PodManifest, undefined>;
  readonly #cronJobs: Lists<CronJobManifest, CronJobFacts>;
  readonly #namespaces: Lists<KubernetesObject, NamespaceFacts>;

  /** @param namespaces empty for all namespaces. */
  constructor(namespaces: readonly string[]) {
    const batch = (plural: string) => queriesIn(namespaces, { group: 'apis/batch/v1', plural });
    this.#jobs = new Lists(batch('Jobs'));
    this.#cronJobs = new Lists(batch('CronJobs'));
    const ofJobs = { group: 'api/v1', plural: 'Pods', labelSelector: 'batch.kubernetes.io/job-name' };
    this.#pods = new Lists(queriesIn(namespaces, ofJobs));
    this.#namespaces = new Lists(namespacesQueries(namespaces, organizationLabel));
  }

  /** True once every list has been read. */
  get complete(): boolean {
    return [this.#jobs, this.#pods, this.#cronJobs, this.#namespaces].every(({ complete }) => complete);
  }

  /** The UIDs of all Jobs. */
  get jobs(): ReadonlySet<string> {
    return new Set(this.#jobs.objects());
  }

  /** True if the namespace of a Job has the CronJob that the Job names. */
  hasCronJobOf({ namespace, cronJob }: Pick<JobFacts, 'namespace' | 'cronJob'>): boolean {
    return cronJob !== undefined && this.#cronJobs.get(`${namespace}/${cronJob.name}`)?.uid === cronJob.uid;
  }

  get cronJobs(): CronJobFacts[] {
    return this.#cronJobs.objects();
  }

  /**
   * Returns a function that finds the organization of a captured object: that of its namespace, if
   * the object or the namespace has the label.
   */
  capturing(): (object: Pick<JobFacts, 'namespace' | 'capture'>) => string | undefined {
    const namespaces = new Map(this.#namespaces.objects().map((namespace) => [namespace.name, namespace]));
    return ({ namespace, capture }) => {
      const facts = namespaces.get(namespace);
      const captured = capture === undefined ? facts?.captured : capture === 'true';
      return captured === true ? facts?.organization : undefined;
    };
  }

  /** Follows everything until `end` is aborted. Rejects on the first error. */
  async follow(listener: JobListener, following: Following): Promise<void> {
    await Promise.all([
      ...this.#namespaces.follow(readNamespace, following),
      ...this.#cronJobs.follow(readCronJob, following),
      ...this.#jobs.follow((job) => listener.onJob(job), following),
      ...this.#pods.follow((pod) => listener.onPod(pod), following),
    ]);
  }
}

function readNamespace(namespace: KubernetesObject): NamespaceFacts {
  return {
    name: namespace.metadata?.name ?? '',
    organization: organizationOf(namespace),
    captured: namespace.metadata?.labels?.[captureLabel] === 'true',
  };
}
