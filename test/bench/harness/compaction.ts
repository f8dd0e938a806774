import { sql } from 'kysely';
import { compactBefore } from '../../../internal/store/compacted/compact.ts';
import { expanded } from '../../../internal/store/compacted/expanded.ts';
import type { Database } from '../../../internal/store/database.ts';
import { query } from '../../support/postgres-server.ts';
import type { World } from './world.ts';

/** What compacted executions take on disk, and what they leave behind. Sizes are in bytes. */
export interface Compaction extends Counted {
  seconds: number;
  /** CPU time of Postgres, in ms. */
  postgres: number;
  parts: SizedPart[];
  /** Of the table `executions`, all of it: before, after a vacuum, and with as many new ones. */
  before: number;
  vacuumed: number;
  reused: number;
}

/** A part of a table, in bytes. */
interface SizedPart {
  name: string;
  bytes: number;
}

/** Compacts all that can be, then adds as many new executions as were compacted. */
export async function measureCompaction(
  world: World,
  { db, url }: { db: Database; url: string },
  hottest: number,
): Promise<Compaction> {
  const [before, cpu, begun] = [await sizeOfExecutions(url), await world.postgresCpu(), performance.now()];
  const { compacted, rows } = await compactAll(db, url, hottest);
  const seconds = (performance.now() - begun) / 1_000;
  const postgres = (await world.postgresCpu()) - cpu;
  await vacuum(url);
  const parts = [...(await partsOf(url, 'compacted_executions')), ...(await partsOf(url, 'compacted_keys'))];
  const vacuumed = await sizeOfExecutions(url);
  await addExecutions(db);
  const reused = await sizeOfExecutions(url);
  return { compacted, rows, seconds, postgres, parts, before, vacuumed, reused };
}

/**
 * A run of the maintenance compacts for a while only, and the next one goes on.
 * @throws when nothing can be compacted: then nothing is measured.
 */
export async function compactAll(db: Database, url: string, hottest: number): Promise<Counted> {
  for (let before = 0; ;) {
    await compactBefore(db, hottest);
    const found = await counted(url);
    if (found.compacted === 0) throw new Error('no execution was compacted');
    if (found.compacted === before) return found;
    before = found.compacted;
  }
}

/** How many executions are in blocks, and how many are rows. */
interface Counted {
  compacted: number;
  rows: number;
}

async function counted(url: string): Promise<Counted> {
  const [row] = await query<Counted>(
    url,
    `select (select coalesce(sum(executions), 0)::float8 from compacted_executions) as compacted,
       (select count(*)::float8 from executions) as rows`,
  );
  return row ?? { compacted: NaN, rows: NaN };
}

/** The second one frees the pages of indexes that the first one emptied, as daily vacuums do. */
async function vacuum(url: string): Promise<void> {
  const tables = 'executions, compacted_executions, compacted_keys';
  await query(url, `vacuum (analyze) ${tables}`);
  // No reader that may still be in such a page is older than this transaction.
  await query(url, 'select pg_current_xact_id()');
  await query(url, `vacuum ${tables}`);
}

async function partsOf(url: string, table: string): Promise<SizedPart[]> {
  const rows = await query<{ heap: number; toast: number; indexes: number }>(
    url,
    `select pg_relation_size(oid)::float8 as heap, pg_indexes_size(oid)::float8 as indexes,
       (pg_table_size(oid) - pg_relation_size(oid))::float8 as toast
     from pg_class where oid = '${table}'::regclass`,
  );
  return rows.flatMap(({ heap, toast, indexes }) => [
    { name: `rows of ${table}`, bytes: heap },
    { name: `TOAST and maps of ${table}`, bytes: toast },
    { name: `indexes of ${table}`, bytes: indexes },
  ]);
}

async function sizeOfExecutions(url: string): Promise<number> {
  const [row] = await query<{ bytes: number }>(
    url,
    `select sum(pg_total_relation_size(relid))::float8 as bytes from pg_partition_tree('executions')`,
  );
  return row?.bytes ?? NaN;
}

/** Those of the blocks once more, as if they had run a week later. */
async function addExecutions(db: Database): Promise<void> {
  const week = sql`interval '7 days'`;
  await sql`
    insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at, ended_at,
      start_count, event_count, warning_count, error_count, end_count)
    select organization, automation_id, to_char(first_event_at + ${week}, 'YYYYMMDD"T"HH24MISS') || substr(execution_id, 16),
      first_event_at + ${week}, last_event_at + ${week}, started_at + ${week}, ended_at + ${week},
      start_count, event_count, warning_count, error_count, end_count
    from (${expanded(sql`select * from compacted_executions`)}) as old
  `.execute(db);
}
