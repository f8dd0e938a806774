import { sharedCluster } from './shared-cluster.ts';

interface Metadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
}

const pod = {
  restartPolicy: 'Never',
  containers: [{ name: 'main', image: 'example.com/main:1' }],
};
const spec = { backoffLimit: 0, template: { spec: pod } };
const second = (time: Date): string => time.toISOString().replace(/\.\d+/, '');

/** Makes Jobs, and does what kube-controller-manager and the kubelet do with them. */
export class JobPlayer {
  readonly namespace: string;
  readonly #jobs: string;

  constructor(namespace: string) {
    this.namespace = namespace;
    this.#jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  }

  /** Makes a namespace with these labels, and the player of its Jobs. */
  static async inNamespace(name: string, labels: Readonly<Record<string, string>>): Promise<JobPlayer> {
    await sharedCluster().admin.must('POST', '/api/v1/namespaces', { metadata: { name, labels } });
    return new JobPlayer(name);
  }

  /** Resolves with the UID. */
  async create(name: string, metadata: Partial<Metadata> = {}): Promise<string> {
    const job = { metadata: { name, ...metadata }, spec };
    return uidOf(await sharedCluster().admin.must('POST', this.#jobs, job));
  }

  /** Makes a CronJob. Resolves with its UID. */
  async createCronJob(cronJob: object): Promise<string> {
    const path = `/apis/batch/v1/namespaces/${this.namespace}/cronjobs`;
    return uidOf(await sharedCluster().admin.must('POST', path, cronJob));
  }

  start(name: string, startTime: Date): Promise<unknown> {
    return this.#patch(name, { startTime: second(startTime), active: 1 });
  }

  /** `startTime`: of a Job that has not started yet. */
  complete(name: string, completionTime: Date, startTime?: Date): Promise<unknown> {
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => condition(type, completionTime));
    const times = { ...timesOf(startTime), completionTime: second(completionTime) };
    return this.#patch(name, { ...times, active: 0, succeeded: 1, conditions });
  }

  fail(name: string, time: Date, startTime?: Date): Promise<unknown> {
    const why = { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
    const conditions = ['FailureTarget', 'Failed'].map((type) => ({ ...condition(type, time), ...why }));
    return this.#patch(name, { ...timesOf(startTime), active: 0, failed: 1, conditions });
  }

  /** Makes a Pod of a Job that has ended with an exit code and a termination message. */
  async failPod(job: string, uid: string, terminated: { exitCode: number; message: string }): Promise<void> {
    const name = `${job}-x7k2p`;
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: job, uid, controller: true }];
    const metadata = { name, ownerReferences, labels: { 'batch.kubernetes.io/job-name': job } };
    const pods = `/api/v1/namespaces/${this.namespace}/pods`;
    await sharedCluster().admin.must('POST', pods, { metadata, spec: pod });
    const state = { terminated: { reason: 'Error', ...terminated } };
    const main = { name: 'main', image: '', imageID: '', ready: false, restartCount: 0, state };
    const status = { phase: 'Failed', containerStatuses: [main] };
    await sharedCluster().admin.must('PATCH', `${pods}/${name}/status`, { status });
  }

  async delete(name: string): Promise<void> {
    await sharedCluster().admin.must('DELETE', `${this.#jobs}/${name}?propagationPolicy=Background`);
  }

  async deleteAll(): Promise<void> {
    await sharedCluster().admin.must('DELETE', `${this.#jobs}?propagationPolicy=Background`);
  }

  #patch(name: string, status: object): Promise<unknown> {
    return sharedCluster().admin.must('PATCH', `${this.#jobs}/${name}/status`, { status });
  }
}

function condition(type: string, time: Date) {
  return { type, status: 'True', lastTransitionTime: second(time), lastProbeTime: second(time) };
}

function timesOf(startTime: Date | undefined) {
  return startTime === undefined ? {} : { startTime: second(startTime) };
}

function uidOf(object: Readonly<Record<string, unknown>>): string {
  return (object['metadata'] as { uid: string }).uid;
}
