import { until } from '../../support/until.ts';
import { query } from '../../support/postgres-server.ts';
import type { Answers } from './wrk.ts';

/**
 * Checks that what was answered with 201 is in Postgres, and that every execution is what its
 * events amount to. Returns the events stored. As many as `unanswered` may be stored beyond what
 * the callers counted: a load ends while each of its connections waits for an answer. `which`: the
 * events that callers sent, where Runledger adds others. Baselines keep no list of what runs.
 * @throws when anything is lost, doubled or wrong.
 */
export async function verify(
  database: string,
  answers: Answers,
  unanswered: number,
  { by = 'runledger', which = 'true' }: { by?: string; which?: string } = {},
): Promise<number> {
  if (answers.refused + answers.broken > 0) throw new Error(`${answers.refused} refused, ${answers.broken} broken`);
  const events = await countEvents(database, which);
  if (events < answers.accepted) throw new Error(`lost: ${answers.accepted} answered with 201, ${events} stored`);
  if (events > answers.accepted + unanswered) throw new Error(`doubled: ${answers.accepted} sent, ${events} stored`);
  const [row] = await query(
    database,
    `select count(*)::integer as wrong from executions full join (
       select organization, automation_id, execution_id, count(*) as total,
         case when bool_or(kind = 'ERROR') then 'failed' when bool_or(kind = 'END') then 'succeeded' else 'running' end as state
       from events group by 1, 2, 3
     ) as truth using (organization, automation_id, execution_id)
     where executions.state is distinct from truth.state
       or start_count + event_count + warning_count + error_count + end_count is distinct from truth.total`,
  );
  if (row?.['wrong'] !== 0) throw new Error(`${String(row?.['wrong'])} executions have a wrong outcome`);
  if (by !== 'runledger') return events;
  const [running] = await query(
    database,
    `select
       (select count(*) from executions where state = 'running') = (select count(*) from running_executions) and not exists (
         select from running_executions left join executions using (organization, automation_id, execution_id, first_event_at)
         where state is distinct from 'running'
       ) as right`,
  );
  if (running?.['right'] !== true) throw new Error('running_executions differs from executions');
  return events;
}

/** Updates of executions so far, and those of them that changed no index (HOT). */
export interface Updates {
  all: number;
  inPlace: number;
}

/** Sessions report their updates at their end, or up to a second later. */
export async function updatesOf(database: string): Promise<Updates> {
  const [row] = await query(
    database,
    `select sum(n_tup_upd)::float8 as all, sum(n_tup_hot_upd)::float8 as in_place from pg_stat_user_tables
     where relname ~ '^executions(_\\d+)?$'`,
  );
  return { all: Number(row?.['all']), inPlace: Number(row?.['in_place']) };
}

/** The share of updates that were in place since then, in per cent. */
export function shareInPlace(since: Updates, now: Updates): number {
  return (100 * (now.inPlace - since.inPlace)) / Math.max(1, now.all - since.all);
}

/**
 * Deletes what the load stored since then, so that the next drain finds the same record. `vacuum`
 * keeps rows that a transaction under way could see, such as an autovacuum's `analyze`: readers of
 * the newest events would pass all of them.
 */
export async function deleteSince(database: string, organization: string, since: Date): Promise<void> {
  for (const [table, time] of [
    ['events', 'created_at'],
    ['executions', 'first_event_at'],
  ] as const) {
    const wanted = `organization = '${organization}' and ${time} >= '${since.toISOString()}'`;
    await query(database, `delete from ${table} where ${wanted}`);
  }
  const transactions = `select from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()`;
  const none = async (): Promise<boolean> => (await query(database, transactions)).length === 0;
  await until('no transaction is under way', none, 600_000);
  await query(database, 'vacuum (index_cleanup on) events, executions, running_executions');
}

export async function countEvents(database: string, which = 'true'): Promise<number> {
  const [row] = await query(database, `select count(*)::integer as events from events where ${which}`);
  return Number(row?.['events']);
}

/** Events of a statement on average: each is a transaction of its own. */
export async function eventsPerStatement(database: string): Promise<number> {
  const [row] = await query(database, 'select count(*)::float8 / count(distinct xmin::text) as events from events');
  return Number(row?.['events']);
}

/** Events that Redis has acknowledged to an ingest. */
export async function acceptedBy(opsPort: number): Promise<number> {
  return sumOf('runledger_events_accepted_total', await metricsOf(opsPort));
}

/** The same once no commit is under way: the end of a load leaves some behind. */
export async function acceptedInAll(opsPort: number): Promise<number> {
  return until('no commit is under way', async () => {
    const metrics = await metricsOf(opsPort);
    const underWay = sumOf('runledger_commits_in_flight', metrics) + sumOf('runledger_events_buffered', metrics);
    return underWay === 0 ? sumOf('runledger_events_accepted_total', metrics) : undefined;
  });
}

async function metricsOf(opsPort: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
}

function sumOf(name: string, metrics: string): number {
  const values = [...metrics.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/**
 * Events a second from the first to the last commit since the given time. What the first commit
 * brought is not counted: the time it took lies before.
 * @throws when there were fewer than two commits.
 */
export async function drainRate(database: string, since = new Date(0)): Promise<number> {
  const [row] = await query(
    database,
    `with commits as (
       select pg_xact_commit_timestamp(xmin) as at, count(*) as events from events
       where created_at >= '${since.toISOString()}' group by xmin
     )
     select ((sum(events) - (array_agg(events order by at))[1]) / nullif(extract(epoch from max(at) - min(at)), 0))::float8 as rate
     from commits`,
  );
  const rate = row?.['rate'];
  if (typeof rate !== 'number') throw new Error('one commit stored everything: take more events to measure a rate');
  return rate;
}

/** Seconds from `since` until the commit with which so many events were stored. */
export async function secondsUntilStored(database: string, events: number, since: Date): Promise<number> {
  const [row] = await query(
    database,
    `with commits as (select pg_xact_commit_timestamp(xmin) as at, count(*) as events from events group by xmin),
       sums as (select at, sum(events) over (order by at) as stored from commits)
     select extract(epoch from min(at) - '${since.toISOString()}')::float8 as seconds from sums where stored >= ${events}`,
  );
  return Number(row?.['seconds']);
}
