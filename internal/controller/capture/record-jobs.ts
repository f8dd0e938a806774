import { RequestError, type RequestErrorCode } from '../../kit/errors/request-error.ts';
import { acceptEvent, type AcceptedEvent, type EventGroup, type EventIdentity } from '../../event/event.ts';
import type { EventKind, EventRequest } from '../../event/schema.ts';
import { advisoryLocks } from '../../store/advisory-locks.ts';
import type { Database, Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import type { ChangedJob } from './changed-job.ts';
import { readRecorded, saveRecorded, saveSchedules, type KnownJob } from './captured-jobs.ts';
import { eventsOfDeletion, eventsOfJob, type JobEvent } from './job-events.ts';

/**
 * Maximum events per request to the queue, unless a single Job has more. Even with the longest
 * texts they stay below `mostHeldBytes`.
 */
const mostEvents = 200;

/** Enqueues events of one organization; resolves with the result of each group. */
export type EnqueueAll = (
  groups: readonly EventGroup[],
  which: 'all' | 'each',
) => Promise<(readonly AcceptedEvent[] | RequestError)[]>;

export interface QueryOptions {
  readonly enqueueAll: EnqueueAll;
  readonly identify: () => EventIdentity;
  /** With several databases: returns the database of an organization if it is not this one. */
  readonly otherDatabaseOf?: ((organization: string) => Database | undefined) | undefined;
}

export interface RecordedJobs {
  /** The Jobs whose events are all recorded. */
  readonly done: ReadonlySet<string>;
  /** The organizations of the Jobs that have a row, which are recorded to their end. */
  readonly known: ReadonlyMap<string, string>;
  /** Why the queue refuses an event of a Job for good, by the UID of the Job. */
  readonly refused: ReadonlyMap<string, string>;
  readonly kinds: readonly EventKind[];
  /** The first error of the queue. */
  readonly error: unknown;
}

/** Due events of a Job, which are recorded together or not at all. */
interface Due {
  readonly job: KnownJob;
  readonly events: readonly JobEvent[];
}

/**
 * Records the missing events of Jobs in one transaction. Resolves with undefined if another
 * controller holds the lock. A crash in the middle records nothing twice: the next attempt uses the
 * same idempotency keys in Redis.
 */
export function recordJobs(
  db: Database,
  changed: readonly ChangedJob[],
  options: QueryOptions,
): Promise<RecordedJobs | undefined> {
  return db.transaction().execute(async (trx) => {
    if (!(await takeTurn(trx))) return undefined;
    const jobs = await readRecorded(trx, changed, options.otherDatabaseOf);
    await saveSchedules(trx, jobs, options.otherDatabaseOf);
    const kinds: EventKind[] = [];
    const refused = new Map<string, string>();
    let failure: unknown;
    for (const request of requests(jobs.map(dueOf))) {
      const results = await enqueue(request, options).catch((error: unknown) => {
        failure ??= error;
        return [];
      });
      results.forEach((result, index) => {
        const due = request[index];
        if (due === undefined) return;
        if (isRecorded(result)) {
          for (const { key, kind } of due.events) {
            due.job.recorded.add(key);
            kinds.push(kind);
          }
        } else if (result instanceof RequestError && !passing.has(result.code))
          refused.set(due.job.uid, result.message);
      });
    }
    // Written even without a connection to Redis: a known Job is recorded when it is deleted.
    await saveRecorded(trx, jobs);
    const done = jobs.filter((job) => missingOf(job).length === 0).map(({ uid }) => uid);
    const known = new Map(jobs.map(({ uid, organization }) => [uid, organization]));
    return { done: new Set(done), known, refused, kinds, error: failure };
  });
}

/** Answers of the queue that are worth a retry. */
const passing: ReadonlySet<RequestErrorCode> = new Set(['unavailable', 'too-many-requests', 'request-in-progress']);

async function takeTurn(trx: Transaction<Tables>): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.capture)}) as locked
  `.execute(trx);
  return rows[0]?.locked === true;
}

/** The events of a Job that are not recorded yet. */
function missingOf(job: KnownJob): JobEvent[] {
  const { facts, failures, gone, recorded } = job;
  // A suspended Job loses its start time and gets another one later: the first one counts.
  const startedAt = job.startedAt ?? facts?.startedAt;
  const events = facts === undefined ? [] : eventsOfJob({ ...facts, startedAt }, failures);
  const isOver = recorded.has('END') || events.some(({ kind }) => kind === 'END');
  // START may be in the list twice: only the first event of a key counts.
  if (gone && !isOver) events.push(...eventsOfDeletion(job, facts?.deletedAt));
  const byKey = new Map(events.toReversed().map((event) => [event.key, event]));
  return events.filter((event) => byKey.get(event.key) === event && !recorded.has(event.key));
}

/** Keeps the end of a Job in one group, so that a failed Job is never seen without its ERROR. */
function dueOf(job: KnownJob): Due[] {
  const isOfEnd = ({ kind }: JobEvent): boolean => kind === 'ERROR' || kind === 'END';
  const missing = missingOf(job);
  const end = missing.filter(isOfEnd);
  const single = missing.filter((event) => !isOfEnd(event)).map((event): Due => ({ job, events: [event] }));
  return end.length === 0 ? single : [...single, { job, events: end }];
}

/** Requests for one organization each, with all due events of each Job. */
function requests(due: readonly Due[][]): Due[][] {
  const all: Due[][] = [];
  for (const ofOrganization of Map.groupBy(due, ([first]) => first?.job.organization).values()) {
    let request: Due[] = [];
    for (const ofJob of ofOrganization) {
      if (request.length > 0 && countOf(request) + countOf(ofJob) > mostEvents) {
        all.push(request);
        request = [];
      }
      request.push(...ofJob);
    }
    if (request.length > 0) all.push(request);
  }
  return all;
}

function countOf(due: readonly Due[]): number {
  return due.reduce((sum, { events }) => sum + events.length, 0);
}

function enqueue(due: readonly Due[], { enqueueAll, identify }: QueryOptions) {
  const groups = due.map(({ job, events }): EventGroup => {
    return {
      key: ['job', job.uid, ...events.map(({ key }) => key)],
      events: events.map((event) => acceptEvent(requestOf(job, event), job.organization, identify())),
    };
  });
  return enqueueAll(groups, 'each');
}

function requestOf({ automationId, uid }: KnownJob, event: JobEvent): EventRequest {
  const { kind, occurredAt, description, errorId, errorDescription } = event;
  return {
    automation_id: automationId,
    execution_id: uid,
    event: kind,
    description,
    error_id: errorId,
    error_description: errorDescription,
    occurred_at: occurredAt === undefined ? null : new Date(occurredAt).toISOString(),
  };
}

/**
 * True if the events are recorded, also if their key was used with other texts: the first count.
 */
function isRecorded(result: readonly AcceptedEvent[] | RequestError): boolean {
  return !(result instanceof RequestError) || result.code === 'idempotency-key-reused';
}
