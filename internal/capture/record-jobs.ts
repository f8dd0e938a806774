import { RequestError } from '../errors/request-error.ts';
import { acceptEvent, type AcceptedEvent, type EventIdentity, type KeyedEvent } from '../event/event.ts';
import type { EventKind } from '../event/schema.ts';
import { advisoryLocks } from '../store/advisory-locks.ts';
import type { Database, Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';
import type { ChangedJob } from './changed-job.ts';
import { readRecorded, saveRecorded, type KnownJob } from './captured-jobs.ts';
import { eventsOfDeletion, eventsOfJob, type JobEvent } from './job-events.ts';

/** Most events of one request to the queue: with the longest texts, it is below `mostHeldBytes`. */
const mostEvents = 200;

/** Puts events of one organization into the queue; resolves with the result of each, in order. */
export type EnqueueAll = (
  events: readonly KeyedEvent[],
  which: 'all' | 'each',
) => Promise<(AcceptedEvent | RequestError)[]>;

export interface RecordOptions {
  readonly enqueueAll: EnqueueAll;
  readonly identify: () => EventIdentity;
  /** With several databases: that of an organization, if it is not this one. */
  readonly otherDatabaseOf?: ((organization: string) => Database | undefined) | undefined;
}

export interface RecordedJobs {
  /** The Jobs that need no more: all their events are recorded. */
  readonly done: ReadonlySet<string>;
  /** The Jobs with a row, so recorded to their end. */
  readonly known: ReadonlySet<string>;
  readonly kinds: readonly EventKind[];
  /** The first error of the queue. */
  readonly error: unknown;
}

/** An event that is due, and its Job. */
interface DueEvent {
  readonly job: KnownJob;
  readonly event: JobEvent;
}

/**
 * Records the events of Jobs that are not recorded yet, in one transaction. Resolves with undefined
 * if another controller is at it. A crash in the middle records nothing twice: the keys of the
 * events in Redis are the same the next time.
 */
export function recordJobs(
  db: Database,
  changed: readonly ChangedJob[],
  options: RecordOptions,
): Promise<RecordedJobs | undefined> {
  return db.transaction().execute(async (trx) => {
    if (!(await takeTurn(trx))) return undefined;
    const jobs = await readRecorded(trx, changed, options.otherDatabaseOf);
    const due = jobs.flatMap((job) => missingOf(job).map((event): DueEvent => ({ job, event })));
    const kinds: EventKind[] = [];
    let failure: unknown;
    for (const request of requests(due)) {
      const results = await enqueue(request, options).catch((error: unknown) => {
        failure ??= error;
        return [];
      });
      results.forEach((result, index) => {
        const one = request[index];
        if (one === undefined || !isRecorded(result)) return;
        one.job.recorded.add(one.event.key);
        kinds.push(one.event.kind);
      });
    }
    // Also without a connection to Redis: a Job that is known is recorded when it is deleted.
    await saveRecorded(trx, jobs);
    const done = jobs.filter((job) => missingOf(job).length === 0).map(({ uid }) => uid);
    return { done: new Set(done), known: new Set(jobs.map(({ uid }) => uid)), kinds, error: failure };
  });
}

async function takeTurn(trx: Transaction<Tables>): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.capture)}) as locked
  `.execute(trx);
  return rows[0]?.locked === true;
}

/** The events of a Job that are not recorded. */
function missingOf(job: KnownJob): JobEvent[] {
  const { facts, failures, gone, recorded } = job;
  // A suspended Job has lost its start, and gets another one later: the first one counts.
  const startedAt = job.startedAt ?? facts?.startedAt;
  const events = facts === undefined ? [] : eventsOfJob({ ...facts, startedAt }, failures);
  const isOver = recorded.has('END') || events.some(({ kind }) => kind === 'END');
  // START may come twice: only the first one of a key counts.
  if (gone && !isOver) events.push(...eventsOfDeletion(job, facts?.deletedAt));
  const byKey = new Map(events.toReversed().map((event) => [event.key, event]));
  return events.filter((event) => byKey.get(event.key) === event && !recorded.has(event.key));
}

/** Requests of one organization each. */
function requests(due: readonly DueEvent[]): DueEvent[][] {
  const ofOrganizations = [...Map.groupBy(due, ({ job }) => job.organization).values()];
  return ofOrganizations.flatMap((events) => {
    const count = Math.ceil(events.length / mostEvents);
    return Array.from({ length: count }, (_, index) => events.slice(index * mostEvents, (index + 1) * mostEvents));
  });
}

function enqueue(due: readonly DueEvent[], { enqueueAll, identify }: RecordOptions) {
  const events = due.map(({ job, event }): KeyedEvent => {
    const { organization, automationId, uid } = job;
    const { key, kind, occurredAt, description, errorId, errorDescription } = event;
    const request = {
      automation_id: automationId,
      execution_id: uid,
      event: kind,
      description,
      error_id: errorId,
      error_description: errorDescription,
      occurred_at: occurredAt === undefined ? null : new Date(occurredAt).toISOString(),
    };
    return { key: `job-${uid}-${key}`, event: acceptEvent(request, organization, identify()) };
  });
  return enqueueAll(events, 'each');
}

/** A key that was used with another text: the event is recorded, as it was seen first. */
function isRecorded(result: AcceptedEvent | RequestError): boolean {
  return !(result instanceof RequestError) || result.code === 'idempotency-key-reused';
}
