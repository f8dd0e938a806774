import { dayOf, daysBefore, daysFrom } from '../../internal/store/partitions/days.ts';
import { createPartition } from '../../internal/store/partitions/partitions.ts';
import { query } from './postgres-server.ts';
import { listRunning, openDatabase } from './store.ts';

/** How much to store. */
export interface Seed {
  executions: number;
  days: number;
  /** Time of the newest; now if absent. */
  ending?: Date;
  /** Automations of each organization; 200 if absent. */
  automations?: number;
}

/** The organization that has half of the executions. */
export const largest = 'acme';

/** The id of an automation of {@link largest}, in SQL and in TypeScript. */
export const automationOfLargest = (number: number): string =>
  `${number.toString(16).padStart(8, '0')}-0000-4000-9000-000000000000`;

/**
 * Fills a migrated database with executions of five events, in order of time: half of one
 * organization, half of 19 others. Of a hundred, two fail with one of five error ids, five have a
 * warning; of a thousand, one has no START, and one does not end.
 */
export async function seedRecord(
  url: string,
  { executions, days, ending = new Date(), automations = 200 }: Seed,
): Promise<void> {
  await createPartitions(url, days, ending);
  await query(
    url,
    `create unlogged table made as
     select
       number,
       timestamptz '${ending.toISOString()}' + date_trunc('milliseconds', - interval '${days} days' * (1 - number::float8 / ${executions + 1})) as at,
       case when number % 2 = 0 then '${largest}' else 'org-' || (number / 2 % 19) end as organization,
       (lpad(to_hex(number / 2 % ${automations}), 8, '0') || '-0000-4000-9000-000000000000')::uuid as automation,
       to_char(now(), 'YYYYMMDD"T"HH24MISS') || '-' || left(md5(number::text), 16) as execution,
       abs(hashint4(number)::bigint) % 100 in (0, 1) as fails,
       abs(hashint4(number)::bigint) % 100 in (2, 3, 4, 5, 6) as warns,
       abs(hashint4(number)::bigint) % 1000 <> 7 as starts,
       abs(hashint4(number)::bigint) % 1000 <> 8 as ends
     from generate_series(1, ${executions}) as number`,
  );
  await query(
    url,
    `insert into events
     select organization, at + step * interval '7 ms' * (1 + number % 5), gen_random_uuid(), automation, null, execution,
       (array[
         case when starts then 'START' else 'EVENT' end, 'EVENT', case when warns then 'WARNING' else 'EVENT' end,
         case when fails then 'ERROR' else 'EVENT' end, case when ends then 'END' else 'EVENT' end
       ])[step],
       rpad('Invoice was read and checked ' || md5(number::text), 170, '.'),
       case when fails and step = 4 then 'E-' || number / 400 % 5 else '' end,
       case when fails and step = 4 then 'The remote system did not answer in time' else '' end
     from made, generate_series(1, 5) as step`,
  );
  await query(
    url,
    `insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at, failed_at, ended_at,
       start_count, event_count, warning_count, error_count, end_count)
     select organization, automation, execution, at + gap, at + 5 * gap,
       case when starts then at + gap end, case when fails then at + 4 * gap end, case when ends then at + 5 * gap end,
       starts::integer, 5 - starts::integer - warns::integer - fails::integer - ends::integer, warns::integer, fails::integer,
       ends::integer
     from made, lateral (select interval '7 ms' * (1 + number % 5) as gap) as gaps`,
  );
  await query(url, listRunning);
  await query(url, 'drop table made');
  await query(url, 'vacuum (analyze) events, executions, running_executions');
}

/** The maintenance makes those of the last day and later. */
async function createPartitions(url: string, days: number, ending: Date): Promise<void> {
  const db = openDatabase(url, 60_000);
  try {
    const past = daysFrom(daysBefore(dayOf(ending.getTime()), days), days);
    await db.transaction().execute(async (trx) => {
      for (const day of past) await createPartition(trx, day);
    });
  } finally {
    await db.destroy();
  }
}
