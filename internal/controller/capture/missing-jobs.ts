import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { exists } from '../../cluster/exists.ts';
import type { Database } from '../../store/database.ts';
import { slices } from '../../store/partitions/slices.ts';
import { listCaptured, type ListedJob } from './captured-jobs.ts';
import type { JobView } from './job-view.ts';
import type { Candidate, TrackedJobs } from './tracked-jobs.ts';

/** Maximum number of concurrent requests to the API server. */
const requestsAtOnce = 20;

const batchJobs = { group: 'apis/batch/v1', plural: 'jobs' };
const batchCronJobs = { group: 'apis/batch/v1', plural: 'cronjobs' };

/** One attempt to follow Jobs, once all lists are read. */
export interface Attempt {
  readonly view: JobView;
  readonly access: ClusterAccess;
  readonly end: AbortSignal;
  /** The Jobs that have a row but are in no list; undefined until the first round. */
  missing: readonly ListedJob[] | undefined;
}

/**
 * Returns the Jobs that have a row but are in no list: they were deleted while no controller ran.
 */
export async function findMissing(
  attempt: Attempt,
  tracked: TrackedJobs,
  { db, namespaces }: { readonly db: Database; readonly namespaces: readonly string[] },
): Promise<ListedJob[]> {
  const rows = await listCaptured(db);
  tracked.know(new Map(rows.map(({ uid, organization }) => [uid, organization])));
  const present = attempt.view.jobs;
  const isFollowed = ({ namespace }: ListedJob) => namespaces.length === 0 || namespaces.includes(namespace);
  const unseen = rows.filter((row) => !present.has(row.uid) && !tracked.has(row.uid) && isFollowed(row));
  return withoutPresent(unseen, (row) => !row.recorded.includes('END'), attempt);
}

/**
 * Asks the API server for Jobs that seem to be deleted before their end, since this view may be
 * older than what another controller has recorded. Leaves out those that exist.
 */
export async function withoutPresent<T extends Pick<ListedJob, 'namespace' | 'name' | 'uid'>>(
  jobs: readonly T[],
  isAsked: (job: T) => boolean,
  { access, end }: { readonly access: ClusterAccess; readonly end: AbortSignal },
): Promise<T[]> {
  const kept: T[] = [];
  for (const some of slices(jobs, requestsAtOnce)) {
    const there = await Promise.all(some.map(async (job) => isAsked(job) && exists(access, batchJobs, job, end)));
    kept.push(...some.filter((_, index) => !there[index]));
  }
  return kept;
}

/**
 * The UIDs of the candidates that ask for an owner and whose CronJob exists: the list of CronJobs
 * may lack a new one.
 */
export async function findOwners(
  candidates: readonly Candidate[],
  { access, end }: { readonly access: ClusterAccess; readonly end: AbortSignal },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const asking = candidates.filter(({ asksForOwner }) => asksForOwner);
  for (const some of slices(asking, requestsAtOnce)) {
    await Promise.all(
      some.map(async ({ uid, facts: { namespace, cronJob } }) => {
        if (cronJob === undefined) return;
        if (await exists(access, batchCronJobs, { namespace, ...cronJob }, end)) found.add(uid);
      }),
    );
  }
  return found;
}
