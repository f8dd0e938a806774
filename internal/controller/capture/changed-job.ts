import type { JobFacts } from './read-job.ts';
import type { PodFailure } from './read-pod.ts';

/** A Job that may have new events. */
export interface ChangedJob {
  readonly uid: string;
  /** The organization of its namespace. If undefined, the Job is recorded only if it was before. */
  readonly organization: string | undefined;
  /** Undefined for a Job that was deleted while no controller ran. */
  readonly facts: JobFacts | undefined;
  readonly failures: readonly PodFailure[];
  /** True if the API server no longer has it. */
  readonly gone: boolean;
  /** Number of changes of its facts and failures; undefined without facts. */
  readonly version?: number;
}
