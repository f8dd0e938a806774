import type { History, Run } from '../../expectation/history.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import type { AutomationKey } from './due-automations.ts';

/** Maximum number of runs per automation that one part of an evaluation reads. */
const mostRuns = 1_000;

/**
 * How many extra runs are read, because runs overlap: failures count in the order of ends, but the
 * index has the order of starts.
 */
const mostOverlapping = 200;

/** How far before the previous evaluation accepted ends are read again, in ms. */
const endedLaterMs = 600_000;

/** Which runs of an automation an evaluation needs; times in ms since the Unix epoch. */
export interface RunsWanted extends AutomationKey {
  /** When the automation was last evaluated. All runs that started since then are read. */
  since: number;
  /** Runs that started since this time are read if they had not ended by `since`. */
  unendedSince: number;
  /** How many of the runs that ended or failed last are read. */
  finished: number;
  /** Runs that failed since this time are read; undefined for none. */
  failedSince: number | undefined;
}

/** Times are in seconds since the Unix epoch: a number is parsed eight times faster than a date. */
interface RunRow {
  index: number;
  part: 'since' | 'before' | 'other';
  execution_id: string;
  begun: number;
  failed: number | null;
  ended: number | null;
  last: number;
  starts: number;
  lacks_start: boolean;
  error_accepted: number | null;
  end_accepted: number | null;
  by_hand: boolean;
  scheduled: number | null;
}

/** Reads the runs of several automations, in the order of the keys. */
export async function readRuns(
  trx: Transaction<Tables>,
  wanted: readonly RunsWanted[],
): Promise<Pick<History, 'runs' | 'hasOlderRuns' | 'otherRuns'>[]> {
  const times = (name: 'since' | 'unendedSince' | 'failedSince') =>
    wanted.map(({ [name]: time }) => (time === undefined ? null : new Date(Math.max(time, 0)).toISOString()));
  const { rows } = await sql<RunRow>`
    select w.index::integer, r.part, r.execution_id, date_part('epoch', r.first_event_at) as begun,
      date_part('epoch', r.failed_at) as failed, date_part('epoch', r.ended_at) as ended,
      date_part('epoch', r.last_event_at) as last, r.start_count as starts, r.started_at is null as lacks_start,
      date_part('epoch', r.error_accepted) as error_accepted, date_part('epoch', r.end_accepted) as end_accepted,
      s.execution_id is not null and s.scheduled_at is null as by_hand, date_part('epoch', s.scheduled_at) as scheduled
    from unnest(
      ${wanted.map(({ organization }) => organization)}::text[],
      ${wanted.map(({ automation_id }) => automation_id)}::uuid[],
      ${times('since')}::timestamptz[], ${times('unendedSince')}::timestamptz[], ${times('failedSince')}::timestamptz[],
      ${wanted.map(({ finished }) => finished)}::integer[]
    ) with ordinality as w (organization, automation_id, since, unended_since, failed_since, finished, index)
    cross join lateral (${startsOf} union all ${endsOf} union all ${namedByOthers}) as r
    left join scheduled_runs s on (s.organization, s.automation_id, s.execution_id)
      = (w.organization, w.automation_id, r.execution_id)
  `.execute(trx);
  const byAutomation = Map.groupBy(rows, ({ index }) => index);
  return wanted.map((_, index) => historyOf(byAutomation.get(index + 1) ?? []));
}

const names = ['execution_id', 'first_event_at', 'started_at', 'failed_at', 'ended_at', 'last_event_at', 'start_count']
  .map((name) => `e.${name}`)
  .join(', ');
const columns = sql.raw(names);
const notAsked = sql`null::timestamptz as error_accepted, null::timestamptz as end_accepted`;
const ofAutomation = sql`e.organization = w.organization and e.automation_id = w.automation_id`;
const newest = sql`order by e.first_event_at desc limit`;

/**
 * Runs that started since the previous evaluation or had not ended by then, and two earlier ones. A
 * run made by hand counts for no start, so it is not one of the two.
 */
const startsOf = sql`
  (select case when e.first_event_at > w.since then 'since' else 'other' end as part, ${columns}, ${notAsked} from executions e
    where ${ofAutomation} and e.first_event_at > least(w.since, w.unended_since)
      and (e.first_event_at > w.since or e.ended_at is null or e.ended_at > w.since)
    ${newest} ${sql.lit(mostRuns)})
  union all
  (select 'before', ${columns}, ${notAsked} from executions e
    where ${ofAutomation} and e.first_event_at <= w.since and not exists (
      select from scheduled_runs s where s.organization = e.organization and s.automation_id = e.automation_id
        and s.execution_id = e.execution_id and s.scheduled_at is null
    ) ${newest} 2)
`;

/** Runs that ended or failed last, and those that failed within a period. */
const endsOf = sql`
  (select 'other', ${columns}, ${notAsked} from (
    select e.*, row_number() over (order by coalesce(e.failed_at, e.ended_at) desc) as place from (
      select ${columns} from executions e
      where w.finished > 0 and ${ofAutomation} and e.first_event_at <= w.since
        and (e.failed_at is not null or e.ended_at is not null)
      ${newest} (w.finished + case when w.failed_since is null then 0 else ${sql.lit(mostRuns)} end + ${sql.lit(mostOverlapping)})
    ) as e
  ) as e where e.place <= w.finished or e.failed_at > w.failed_since)
`;

/** Runs named by new events, open alerts and the table of running executions. */
const namedByOthers = sql`
  (select 'other', ${columns}, n.error_accepted, n.end_accepted from (
    select execution_id, max(created_at) filter (where kind = 'ERROR') as error_accepted,
      max(created_at) filter (where kind = 'END') as end_accepted from (
    (select n.execution_id, n.kind, n.created_at from events n where n.organization = w.organization and n.automation_id = w.automation_id
      and n.kind in ('ERROR', 'END') and n.created_at > w.since - ${sql.lit(endedLaterMs)} * interval '1 ms'
      limit ${sql.lit(mostRuns)})
    union all
    (select r.execution_id, null, null from running_executions r
      where r.organization = w.organization and r.automation_id = w.automation_id and r.lost_at is null
        and r.first_event_at <= w.since
      order by r.first_event_at limit ${sql.lit(mostRuns)})
    union all
    select case a.kind when 'failing' then a.facts ->> 'execution' else a.occurrence end, null, null from alerts a
      where a.organization = w.organization and a.automation_id = w.automation_id and a.resolved_at is null
        and a.kind in ('overrunning', 'lost', 'failing')
    ) as named group by execution_id
  ) as n join executions e on ${ofAutomation} and e.execution_id = n.execution_id and e.first_event_at <= w.since)
`;

/**
 * Where the newest runs reach the limit, earlier ones only go into `otherRuns`: the cut between
 * them would look like a pause without a run.
 */
function historyOf(rows: readonly RunRow[]): Pick<History, 'runs' | 'hasOlderRuns' | 'otherRuns'> {
  const news = new Map(
    rows
      .filter((row) => row.error_accepted !== null || row.end_accepted !== null)
      .map((row) => [row.execution_id, acceptedOf(row)]),
  );
  const part = (name: RunRow['part']): Run[] =>
    rows.filter((row) => row.part === name).map((row) => ({ ...runOf(row), ...news.get(row.execution_id) }));
  const [since, before] = [part('since'), part('before')];
  const isFull = since.length >= mostRuns;
  const runs = isFull ? since : [...since, ...before];
  const known = new Set(runs.map(({ executionId }) => executionId));
  const others = [...before, ...part('other')].filter(({ executionId }) => !known.has(executionId));
  return {
    runs,
    hasOlderRuns: isFull || before.length === 2,
    otherRuns: [...new Map(others.map((run) => [run.executionId, run])).values()],
  };
}

function acceptedOf({ error_accepted, end_accepted }: RunRow): Pick<Run, 'errorAcceptedAt' | 'endAcceptedAt'> {
  return {
    errorAcceptedAt: error_accepted === null ? undefined : msOf(error_accepted),
    endAcceptedAt: end_accepted === null ? undefined : msOf(end_accepted),
  };
}

function runOf(row: RunRow): Run {
  return {
    executionId: row.execution_id,
    startedAt: msOf(row.begun),
    lacksStart: row.lacks_start,
    failedAt: row.failed === null ? undefined : msOf(row.failed),
    endedAt: row.ended === null ? undefined : msOf(row.ended),
    lastEventAt: msOf(row.last),
    startCount: row.starts,
    scheduledFor: row.by_hand ? 'byHand' : row.scheduled === null ? undefined : msOf(row.scheduled),
  };
}

function msOf(seconds: number): number {
  return Math.round(seconds * 1_000);
}
