import type { History, Run } from '../expectation/history.ts';
import type { Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';
import type { AutomationKey } from './due-automations.ts';

/** Most runs of an automation that one evaluation reads. */
const mostRuns = 1_000;

/** Which runs of an automation an evaluation needs. */
export interface RunsWanted extends AutomationKey {
  /** All that started after this time, in ms since the Unix epoch. */
  since: number;
  /** So many before that. */
  before: number;
}

/** Times are seconds since the Unix epoch: a number is parsed eight times faster than a date. */
interface RunRow {
  index: number;
  part: 'since' | 'before' | 'long';
  execution_id: string;
  begun: number;
  finished: number | null;
  lacks_start: boolean;
  failed: boolean;
}

/** Reads the runs of several automations, in the order of the keys. */
export async function readRuns(
  trx: Transaction<Tables>,
  wanted: readonly RunsWanted[],
): Promise<Pick<History, 'runs' | 'hasOlderRuns' | 'longRuns'>[]> {
  const columns = sql`execution_id, date_part('epoch', first_event_at) as begun,
    date_part('epoch', coalesce(failed_at, ended_at)) as finished, started_at is null as lacks_start,
    failed_at is not null as failed`;
  const ofAutomation = sql`e.organization = w.organization and e.automation_id = w.automation_id`;
  const { rows } = await sql<RunRow>`
    select w.index::integer, r.* from unnest(
      ${wanted.map(({ organization }) => organization)}::text[],
      ${wanted.map(({ automation_id }) => automation_id)}::uuid[],
      ${wanted.map(({ since }) => new Date(since).toISOString())}::timestamptz[],
      ${wanted.map(({ before }) => before)}::integer[]
    ) with ordinality as w (organization, automation_id, since, before, index)
    cross join lateral (
      (select 'since' as part, ${columns} from executions e
        where ${ofAutomation} and first_event_at > w.since order by first_event_at desc limit ${sql.lit(mostRuns)})
      union all
      (select 'before', ${columns} from executions e
        where ${ofAutomation} and first_event_at <= w.since order by first_event_at desc limit w.before)
      union all
      (select 'long', execution_id, date_part('epoch', first_event_at), null, false, false from running_executions e
        where ${ofAutomation} and first_event_at <= w.since limit ${sql.lit(mostRuns)})
      union all
      (select 'long', ${columns} from alerts a join executions e using (organization, automation_id)
        where ${ofAutomation} and a.kind = 'overrunning' and a.resolved_at is null and a.occurrence = e.execution_id)
    ) as r
  `.execute(trx);
  const byAutomation = Map.groupBy(rows, ({ index }) => index);
  return wanted.map(({ before }, index) => historyOf(byAutomation.get(index + 1) ?? [], before));
}

/** Runs before the newest ones would make a pause look like one without a run. */
function historyOf(rows: readonly RunRow[], before: number): Pick<History, 'runs' | 'hasOlderRuns' | 'longRuns'> {
  const part = (name: RunRow['part']): Run[] => rows.filter((row) => row.part === name).map(runOf);
  const [since, older, long] = [part('since'), part('before'), part('long')];
  const runs = since.length < mostRuns ? [...since, ...older] : since;
  const known = new Set(runs.map(({ executionId }) => executionId));
  const longRuns = new Map(long.filter((run) => !known.has(run.executionId)).map((run) => [run.executionId, run]));
  return {
    runs,
    hasOlderRuns: older.length === before || since.length === mostRuns,
    longRuns: [...longRuns.values()],
  };
}

function runOf({ execution_id: executionId, begun, finished, lacks_start: lacksStart, failed }: RunRow): Run {
  return {
    executionId,
    startedAt: msOf(begun),
    lacksStart,
    finishedAt: finished === null ? undefined : msOf(finished),
    failed,
  };
}

function msOf(seconds: number): number {
  return Math.round(seconds * 1_000);
}
