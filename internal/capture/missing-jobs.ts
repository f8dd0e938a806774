import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { exists } from '../kubernetes/exists.ts';
import type { Database } from '../store/database.ts';
import { listCaptured, type ListedJob } from './captured-jobs.ts';
import type { JobView } from './job-view.ts';
import type { TrackedJobs } from './tracked-jobs.ts';

/** Most requests to the API server at once. */
const requestsAtOnce = 20;

const batchJobs = { group: 'apis/batch/v1', plural: 'jobs' };

/** One attempt to follow Jobs, once all lists are read. */
export interface Attempt {
  readonly view: JobView;
  readonly access: ClusterAccess;
  readonly end: AbortSignal;
  /** The Jobs with a row that no list has; undefined until the first round. */
  missing: readonly ListedJob[] | undefined;
}

/** Returns the Jobs with a row that are in no list: they were deleted while no controller ran. */
export async function findMissing(
  attempt: Attempt,
  tracked: TrackedJobs,
  { db, namespaces }: { readonly db: Database; readonly namespaces: readonly string[] },
): Promise<ListedJob[]> {
  const rows = await listCaptured(db);
  tracked.know(rows.map(({ uid }) => uid));
  const present = attempt.view.jobs;
  const isFollowed = ({ namespace }: ListedJob) => namespaces.length === 0 || namespaces.includes(namespace);
  const unseen = rows.filter((row) => !present.has(row.uid) && !tracked.has(row.uid) && isFollowed(row));
  return withoutPresent(unseen, (row) => !row.recorded.includes('END'), attempt);
}

/**
 * Asks for Jobs that seem deleted before their end: this view may be older than what another
 * controller has recorded. Leaves out those that are there.
 */
export async function withoutPresent<T extends Pick<ListedJob, 'namespace' | 'name' | 'uid'>>(
  jobs: readonly T[],
  isAsked: (job: T) => boolean,
  { access, end }: { readonly access: ClusterAccess; readonly end: AbortSignal },
): Promise<T[]> {
  const kept: T[] = [];
  for (let from = 0; from < jobs.length; from += requestsAtOnce) {
    const some = jobs.slice(from, from + requestsAtOnce);
    const there = await Promise.all(some.map(async (job) => isAsked(job) && exists(access, batchJobs, job, end)));
    kept.push(...some.filter((_, index) => !there[index]));
  }
  return kept;
}
