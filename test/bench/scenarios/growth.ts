import { query } from '../../support/postgres-server.ts';
import { drainQueue, fillQueue } from '../harness/drains.ts';
import { compare, figure } from '../harness/figures.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

type Table = 'empty' | 'full';

/**
 * Does storing slow down with what is stored? All of it lies in the partition of today, where the
 * new events go too.
 */
export const growth: Scenario = async (world, { rounds, drainEvents, growthEvents }) => {
  const databases: Record<Table, string> = { empty: await world.createDatabase(), full: await world.createDatabase() };
  const begun = performance.now();
  await generateEvents(databases.full, growthEvents);
  const generated = (performance.now() - begun) / 1_000;
  const rates = await compare(
    ['empty', 'full'] as const,
    rounds,
    async (table) => ({ drain: await drainInto(world, databases[table], table, drainEvents) }),
    { warmUp: true },
  );
  return {
    figures: [
      figure('Drain into an empty table', rates.median('drain', 'empty'), 'events/s'),
      figure(`Drain with ${millions(growthEvents)} stored`, rates.median('drain', 'full'), 'events/s'),
      figure('Full against empty', rates.ratio('drain', 'full', 'empty'), '×', { atLeast: 0.9 }),
      figure('Generating them took', generated, 's'),
    ],
  };
};

async function drainInto(world: World, database: string, table: Table, events: number): Promise<number> {
  if (table === 'empty') await world.emptyTables(database);
  else await world.checkpoint(database);
  const since = new Date();
  await fillQueue(world, 'runledger', database, events);
  return drainQueue(world, 'runledger', database, since);
}

/**
 * Executions of five events over the hours of today until now, as wrk's script makes them. With a
 * log, texts have a salt. Older ones are of three days ago, when there was none: each lasts up to
 * two minutes, because equal durations compress to nothing, and each automation has 20,000.
 */
export async function generateEvents(
  database: string,
  events: number,
  log: 'none' | 'salted' | 'older' = 'none',
): Promise<void> {
  const executions = Math.ceil(events / 5);
  const midnight = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;
  const older = log === 'older';
  const [begin, end] = older
    ? [`${midnight} - interval '3 days'`, `${midnight} - interval '2 days 2 minutes'`]
    : [midnight, 'now()'];
  const automations = older ? Math.min(200, Math.ceil(executions / 20_000)) : 200;
  await query(
    database,
    `create unlogged table made as
     select
       number,
       date_trunc('milliseconds', ${begin} + (${end} - (${begin})) * (number::float8 / ${executions + 1})) as at,
       lpad(to_hex(number % ${automations}), 8, '0')::text || '-0000-4000-9000-000000000000' as automation,
       md5(number::text) as execution,
       ${older ? 'floor(random() * 30000)' : '1'}::integer as pause,
       ${older ? 'random() < 0.05' : 'false'} as warns
     from generate_series(1, ${executions}) as number`,
  );
  const stepAt = `at + interval '1 ms' * (1 + (step - 1) * pause)`;
  await query(
    database,
    `insert into events
     select 'acme', ${stepAt}, ${idAt(stepAt)}, automation::uuid, null,
       to_char(at, 'YYYYMMDD"T"HH24MISS') || '-' || left(execution, 16),
       (array['START', 'EVENT', case when warns then 'WARNING' else 'EVENT' end, 'EVENT', 'END'])[step],
       rpad('Invoice was read and checked ' || execution, 170, '.'), '', '', null,
       ${log === 'salted' ? 'uuid_send(gen_random_uuid())' : 'null'}
     from made, generate_series(1, 5) as step`,
  );
  await query(
    database,
    `insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at, ended_at,
       start_count, event_count, warning_count, error_count, end_count)
     select 'acme', automation::uuid, to_char(at, 'YYYYMMDD"T"HH24MISS') || '-' || left(execution, 16),
       first, last, first, last, 1, 3 - warns::integer, warns::integer, 0, 1
     from made, lateral (select at + interval '1 ms', at + interval '1 ms' * (1 + 4 * pause)) as times (first, last)`,
  );
  await query(database, 'drop table made');
  await query(database, 'vacuum (analyze) events, executions, running_executions');
}

/** A random UUIDv7 of a time, in SQL. */
function idAt(time: string): string {
  const ms = `(extract(epoch from ${time}) * 1000)::bigint`;
  return `(lpad(to_hex(${ms}), 12, '0') || '7' || right(gen_random_uuid()::text, 21))::uuid`;
}

function millions(events: number): string {
  return `${(events / 1e6).toLocaleString('en')} million events`;
}
