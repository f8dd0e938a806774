import type { JobFacts } from './read-job.ts';
import type { PodFailure } from './read-pod.ts';

/** A Job that may have new events. */
export interface ChangedJob {
  readonly uid: string;
  /** That of its row or, before it has one, of its namespace. */
  readonly organization: string;
  /** Undefined for a Job that was deleted while no controller ran. */
  readonly facts: JobFacts | undefined;
  readonly failures: readonly PodFailure[];
  /** True if the API server no longer has it. */
  readonly gone: boolean;
  /** Number of changes of its facts and failures; undefined without facts. */
  readonly version?: number;
}
