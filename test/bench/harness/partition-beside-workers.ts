import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { partitionExecutions } from '../../../internal/store/partition-executions.ts';
import { query } from '../../support/postgres-server.ts';
import { openDatabase } from '../../support/store.ts';
import { figure, median, percentile, type Figure } from './figures.ts';
import type { Options } from './options.ts';
import { get, type Read } from './reads.ts';
import { drained, startConsole, startIngest, startRunledgerWorker } from './sides.ts';
import { shareInPlace, updatesOf } from './stored.ts';
import { load } from './wrk.ts';
import type { World } from './world.ts';

/** About 1,000 events a second. */
const flow = { connections: 20, pauseMs: 19 };

/** Requests of each kind. */
const samples = 40;

const reads: Read[] = [
  { name: 'executions', path: '/v1/executions/' },
  { name: 'failed executions', path: '/v1/executions/?state=failed' },
  { name: 'running executions', path: '/v1/executions/?state=running' },
  { name: 'executions with an anomaly', path: '/v1/executions/?anomaly=start_missing' },
  { name: 'executions of an automation', path: '/v1/executions/?automation_id=00000007-0000-4000-9000-000000000000' },
  { name: 'automations', path: '/v1/automations/' },
];

/** Moves many executions while events are stored; reads before and after. */
export async function partitionBesideWorkers(
  world: World,
  { partitionExecutions: count, seconds }: Options,
): Promise<Figure[]> {
  const database = await world.createDatabase({ unpartitioned: true });
  await query(database, seed(count));
  await query(database, 'vacuum (analyze) executions, running_executions');
  const console = await startConsole(world, database);
  const before = await latencies(console.port);

  const [ingest, worker] = [await startIngest(world), await startRunledgerWorker(world, database)];
  const begun = new Date();
  const quiet = await load({ port: ingest.port, seconds, ...flow });
  const over = new AbortController();
  const flowing = flowUntil(ingest.port, over.signal);
  const since = new Date();
  const probe = longestRead(database, over.signal);
  await using db = openDatabase(database, 0);
  await partitionExecutions(db, { mostBytes: Number.MAX_SAFE_INTEGER, concurrently: true });
  const took = (Date.now() - since.getTime()) / 1_000;
  over.abort();
  const accepted = quiet.accepted + (await flowing);
  await drained(world, 'runledger');
  const updates = await updatesOf(database);
  const afterwards = await load({ port: ingest.port, seconds, ...flow });
  await drained(world, 'runledger');
  await world.end(worker);
  await world.end(ingest.program);
  const [ages, agesInQuiet] = [await agesOf(database, since), await agesOf(database, begun, since)];
  await requireAll(database, count, accepted + afterwards.accepted);
  const inPlace = shareInPlace(updates, await updatesOf(database));

  const after = await latencies(console.port);
  await world.end(console.program);
  return [
    figure(`Move of ${count.toLocaleString('en')} executions, beside 1,000 events/s`, took, 's'),
    figure('p99 from acceptance to commit before the move', percentile(agesInQuiet, 0.99), 's'),
    figure('p99 from acceptance to commit during the move', percentile(ages, 0.99), 's'),
    figure('Longest from acceptance to commit during the move', percentile(ages, 1), 's'),
    figure('Longest read of one row during the move', await probe, 'ms'),
    figure('Updates of executions in place, after the move', inPlace, '%', { atLeast: 90 }),
    ...reads.map(({ name }) =>
      figure(`p50 of ${name}, partitions against one table`, (after.get(name) ?? 0) / (before.get(name) ?? 0), '×'),
    ),
  ];
}

/**
 * Executions of 200 automations and 20 organizations, of which `acme` has half; one in 1,000 runs.
 */
const seed = (count: number): string => `
  insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at,
    ended_at, start_count, event_count, warning_count, error_count, end_count)
  select case when number % 2 = 0 then 'acme' else 'organization-' || number / 2 % 19 end,
    (lpad(to_hex(number / 2 % 200), 8, '0') || '-0000-4000-9000-000000000000')::uuid, md5(number::text), at, at, at,
    case when number % 50 = 0 then at end, case when number % 1000 <> 2 then at end, (number % 1000 > 0)::integer, 3, 0,
    (number % 50 = 0)::integer, (number % 1000 <> 2)::integer
  from generate_series(1, ${count}) as number,
    lateral (select now() - (${count} - number) * interval '500 ms' as at) as times`;

/** Sends the flow until told to stop. Resolves with the events that were accepted. */
async function flowUntil(port: number, stopped: AbortSignal): Promise<number> {
  let accepted = 0;
  while (!stopped.aborted) accepted += (await load({ port, seconds: 2, ...flow })).accepted;
  return accepted;
}

/** Reads a row again and again until told to stop. Resolves with the longest time, in ms. */
async function longestRead(database: string, stopped: AbortSignal): Promise<number> {
  const client = new Client({ connectionString: database });
  await client.connect();
  let longest = 0;
  while (!stopped.aborted) {
    const begun = performance.now();
    await client.query(`select state from executions where organization = 'acme' order by first_event_at desc limit 1`);
    longest = Math.max(longest, performance.now() - begun);
    await sleep(5);
  }
  await client.end();
  return longest;
}

/** The time of each event from its acceptance to its commit, in seconds. */
async function agesOf(database: string, from: Date, to = new Date()): Promise<number[]> {
  const rows = await query<{ age: number }>(
    database,
    `select extract(epoch from pg_xact_commit_timestamp(xmin) - created_at)::float8 as age from events
     where created_at between $1 and $2`,
    [from, to],
  );
  return rows.map(({ age }) => age);
}

/** @throws when an event or an execution is missing. */
async function requireAll(database: string, seeded: number, accepted: number): Promise<void> {
  const [row] = await query<{ events: number; missing: number; seeded: number }>(
    database,
    `select (select count(*) from events)::integer as events,
       (select count(*) from (select distinct organization, automation_id, execution_id from events) as e
        left join executions x using (organization, automation_id, execution_id) where x is null)::integer as missing,
       (select count(*) from executions x where not exists (select from events e
        where (e.organization, e.automation_id, e.execution_id) = (x.organization, x.automation_id, x.execution_id)))::integer
        as seeded`,
  );
  if (row === undefined || row.missing !== 0 || row.seeded !== seeded || row.events < accepted) {
    throw new Error(`of ${seeded} executions and ${accepted} events there are ${JSON.stringify(row)}`);
  }
}

/** The p50 of each kind, in ms. */
async function latencies(port: number): Promise<Map<string, number>> {
  const all = new Map<string, number[]>(reads.map(({ name }) => [name, []]));
  for (let sample = 0; sample < samples; sample += 1) {
    for (const { name, path } of reads) {
      const begun = performance.now();
      await get(port, path);
      all.get(name)?.push(performance.now() - begun);
    }
  }
  return new Map([...all].map(([name, values]) => [name, median(values)]));
}
