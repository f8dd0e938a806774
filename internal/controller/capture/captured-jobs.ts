import { executionsWithId } from '../../store/compacted/expanded.ts';
import type { Database, Tables } from '../../store/database.ts';
import { sql, type Kysely, type Transaction } from '../../store/sql.ts';
import type { ChangedJob } from './changed-job.ts';
import type { JobFacts } from './read-job.ts';

/** A Job, and the keys of its events that are recorded. */
export interface KnownJob extends ChangedJob, Pick<JobFacts, 'name' | 'startedAt'> {
  readonly automationId: string;
  readonly namespace: string;
  readonly recorded: Set<string>;
  /** How many of them its row lists; undefined without a row. */
  readonly stored: number | undefined;
}

/** Identifies a Job that has a row. */
export interface ListedJob {
  readonly uid: string;
  readonly organization: string;
  readonly namespace: string;
  readonly name: string;
  readonly recorded: readonly string[];
}

/**
 * The Jobs that have a row and are not known to be gone. Rows of others are deleted after an hour.
 */
export async function listCaptured(db: Database): Promise<ListedJob[]> {
  await sql`delete from captured_jobs where gone_at < now() - interval '1 hour'`.execute(db);
  await sql`
    delete from scheduled_runs where recorded_at < now() - ${sql.lit(scheduledDays)} * interval '1 day'
  `.execute(db);
  return db
    .selectFrom('captured_jobs')
    .select(['uid', 'organization', 'namespace', 'name', 'recorded'])
    .where('gone_at', 'is', null)
    .execute();
}

/**
 * Reads what is recorded of Jobs that have a row, and of new Jobs of an organization. A new Job may
 * already be recorded: its row was deleted, or a crash came before it was written.
 */
export async function readRecorded(
  trx: Transaction<Tables>,
  changed: readonly ChangedJob[],
  otherDatabaseOf: (organization: string) => Database | undefined = () => undefined,
): Promise<KnownJob[]> {
  const uids = changed.map(({ uid }) => uid);
  const rows = await trx
    .selectFrom('captured_jobs')
    .selectAll()
    .where('uid', '=', sql<string>`any(${uids})`)
    .execute();
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const jobs = changed.flatMap((job): KnownJob[] => {
    const { facts } = job;
    const row = byUid.get(job.uid);
    if (row !== undefined) {
      const { organization, automation_id: automationId, namespace, name, started_at: startedAt } = row;
      const [recorded, stored] = [new Set(row.recorded), row.recorded.length];
      return [
        { ...job, organization, automationId, namespace, name, startedAt: startedAt?.getTime(), recorded, stored },
      ];
    }
    if (facts === undefined) return [];
    const { automationId, namespace, name, startedAt } = facts;
    const recorded = new Set<string>();
    return [{ ...job, automationId, namespace, name, startedAt, recorded, stored: undefined }];
  });
  const fresh = jobs.filter(({ stored }) => stored === undefined);
  for (const [other, part] of Map.groupBy(fresh, ({ organization }) => otherDatabaseOf(organization))) {
    await addStored(other ?? trx, part);
  }
  const hasBegun = ({ startedAt, facts }: KnownJob) => startedAt !== undefined || facts?.end !== undefined;
  return jobs.filter((job) => job.stored !== undefined || hasBegun(job));
}

/** Adds what the executions say, rows or compacted: some Jobs are kept for months. */
async function addStored(trx: Kysely<Tables>, jobs: readonly KnownJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const { rows } = await sql<{ execution_id: string; start_count: number; error_count: number; end_count: number }>`
    select e.execution_id, e.start_count, e.error_count, e.end_count from unnest(
      ${jobs.map(({ organization }) => organization)}::text[], ${jobs.map(({ automationId }) => automationId)}::uuid[],
      ${jobs.map(({ uid }) => uid)}::text[]
    ) as job (of_organization, of_automation, uid) cross join lateral (
      ${executionsWithId({
        organization: sql`job.of_organization`,
        automationId: sql`job.of_automation`,
        executionId: sql`job.uid`,
      })}
    ) as e
  `.execute(trx);
  const byUid = new Map(rows.map((row) => [row.execution_id, row]));
  for (const { uid, recorded, failures } of jobs) {
    const stored = byUid.get(uid);
    if (stored === undefined) continue;
    if (stored.start_count > 0) recorded.add('START');
    if (stored.error_count > 0) recorded.add('ERROR');
    if (stored.end_count === 0) continue;
    for (const key of ['END', ...failures.map((failure) => failure.key)]) recorded.add(key);
  }
}

/** How long the scheduled time of a Job is kept, in days: longer than any interval. */
const scheduledDays = 400;

/**
 * Writes the scheduled times of Jobs before their events are in the queue, so that a tick that
 * reads the run knows them. The row of a Job made by hand has no time.
 */
export async function saveSchedules(
  trx: Transaction<Tables>,
  jobs: readonly KnownJob[],
  otherDatabaseOf: (organization: string) => Database | undefined = () => undefined,
): Promise<void> {
  const fresh = jobs.filter(({ facts, recorded }) => {
    return !recorded.has('START') && (facts?.byHand === true || facts?.scheduledAt !== undefined);
  });
  for (const [other, part] of Map.groupBy(fresh, ({ organization }) => otherDatabaseOf(organization))) {
    const scheduled = part.map(({ facts }) => (facts?.byHand === true ? undefined : facts?.scheduledAt));
    await sql`
      insert into scheduled_runs (organization, automation_id, execution_id, scheduled_at)
      select * from unnest(
        ${part.map(({ organization }) => organization)}::text[], ${part.map((job) => job.automationId)}::uuid[],
        ${part.map(({ uid }) => uid)}::text[],
        ${scheduled.map((time) => (time === undefined ? null : new Date(time).toISOString()))}::timestamptz[]
      ) on conflict do nothing
    `.execute(other ?? trx);
  }
}

/** Writes the rows of Jobs that changed, including those without a recorded event. */
export async function saveRecorded(trx: Transaction<Tables>, jobs: readonly KnownJob[]): Promise<void> {
  const changed = jobs.filter((job) => job.gone || job.recorded.size !== job.stored);
  if (changed.length === 0) return;
  const rows = changed.map((job) => ({
    uid: job.uid,
    organization: job.organization,
    automation_id: job.automationId,
    namespace: job.namespace,
    name: job.name,
    started_at: job.startedAt === undefined ? null : new Date(job.startedAt).toISOString(),
    recorded: [...job.recorded],
    is_gone: job.gone && job.recorded.has('END'),
  }));
  await sql`
    insert into captured_jobs as old (uid, organization, automation_id, namespace, name, started_at, recorded, gone_at)
    select uid, organization, automation_id, namespace, name, started_at, recorded, case when is_gone then now() end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (uid text, organization text, automation_id uuid,
      namespace text, name text, started_at timestamptz, recorded text[], is_gone boolean)
    on conflict (uid) do update set recorded = excluded.recorded, gone_at = excluded.gone_at
  `.execute(trx);
}
