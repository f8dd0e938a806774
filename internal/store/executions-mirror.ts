import { sql, type RawBuilder } from 'kysely';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './database.ts';
import { untilUnlocked } from './until-unlocked.ts';

/**
 * Makes each change of `executions` a change of the copy too, in the same transaction, and notes
 * where the copying begins. Rows that change or move from then on need no copying. Writers wait for
 * the lock of a trigger a few milliseconds.
 */
export async function ensureMirror(db: Database): Promise<void> {
  const { rows } = await sql<{ oid: string | null }>`select to_regclass('executions_partitioning')::oid as oid`.execute(
    db,
  );
  if (rows[0]?.oid !== null) return;
  const columns = await columnsToCopy(db);
  await untilUnlocked(() =>
    db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '200ms'`.execute(trx);
      await sql`lock table executions in share row exclusive mode`.execute(trx);
      await createFunction(columns).execute(trx);
      for (const operation of ['insert', 'update', 'delete']) {
        const changed = operation === 'delete' ? 'old' : 'new';
        await sql`
          create trigger ${sql.ref(`mirror_executions_on_${operation}`)} after ${sql.raw(operation)} on executions
          referencing ${sql.raw(changed)} table as changed for each statement execute function mirror_executions()
        `.execute(trx);
      }
      await sql`
        create table executions_partitioning as
        select ${file} as file, 0::bigint as next_block, ${blocks} as blocks, 0::bigint as copied
      `.execute(trx);
    }),
  );
}

/** The file of the table. `vacuum full` writes another one, in which rows are in other blocks. */
export const file: RawBuilder<unknown> = sql`pg_relation_filenode('executions')::bigint`;

/** Blocks of the table. */
export const blocks: RawBuilder<unknown> = sql`
  pg_relation_size('executions') / current_setting('block_size')::bigint
`;

const key: ReadonlySet<string> = new Set(['organization', 'automation_id', 'execution_id']);

/** Copying, and the triggers too, lock rows of the copy in the order in which workers lock. */
export const lockOrder: RawBuilder<unknown> = sql`automation_id, execution_id, organization`;

/** The columns that are no function of others. */
export async function columnsToCopy(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = 'executions'::regclass and attnum > 0 and not attisdropped and attgenerated = ''
    order by attnum
  `.execute(db);
  return rows.map(({ name }) => name);
}

/** Names of columns, in SQL. */
export function list(columns: readonly string[], prefix = ''): RawBuilder<unknown> {
  return sql.join(columns.map((name) => sql.ref(`${prefix}${name}`)));
}

/**
 * A deletion excludes the copying of a chunk by the lock of maintenance: a chunk that is not yet
 * committed would bring the row back. The writer may have no right to the copy.
 */
function createFunction(columns: readonly string[]): RawBuilder<unknown> {
  const changing = columns.filter((name) => !key.has(name));
  return sql`
    create function mirror_executions() returns trigger language plpgsql security definer
    set search_path from current
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    as $$
    begin
      if tg_op = 'DELETE' then
        perform pg_advisory_xact_lock(${sql.lit(advisoryLocks.maintenance)});
        delete from executions_partitioned p using changed c
        where (p.organization, p.automation_id, p.execution_id) = (c.organization, c.automation_id, c.execution_id);
      else
        insert into executions_partitioned (${list(columns)})
        select ${list(columns)} from changed order by ${lockOrder}
        on conflict (organization, automation_id, execution_id)
        do update set (${list(changing)}) = row (${list(changing, 'excluded.')});
      end if;
      return null;
    end
    $$
  `;
}
