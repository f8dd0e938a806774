import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { advisoryLocks } from '../advisory-locks.ts';
import { createPartitionedIndex, isEmpty, suffixOf } from './create-partitioned-index.ts';
import type { Database } from '../database.ts';
import { createIndex, readerIndexes, type ReaderIndex } from './indexes.ts';
import { untilUnlocked } from '../until-unlocked.ts';
import { withTurn } from '../with-turn.ts';

/** Interval of checks whether another process has finished, in ms. */
const pauseMs = 200;

/** A partition that still needs an index, and whether an interrupted build left one behind. */
interface Missing {
  index: ReaderIndex;
  table: string;
  name: string;
  /** An invalid index has this name. */
  broken: boolean;
}

/**
 * Builds missing indexes for readers while workers write. The next call continues an interrupted
 * build. `concurrently: false` is for an embedded Postgres with one session.
 */
export async function buildIndexes(db: Database, { concurrently }: { concurrently: boolean }): Promise<void> {
  for (const index of readerIndexes) await createOnParent(db, index);
  const how = concurrently ? 'concurrently' : 'plain';
  const build = (): Promise<void> => buildMissing(db, how);
  while ((await listMissing(db)).length > 0) {
    const built = concurrently ? await withTurn(db, advisoryLocks.indexBuild, build) : await build().then(() => true);
    // Polls instead of waiting for the lock: a waiting statement would delay the build that it
    // waits for.
    if (!built) await sleep(pauseMs);
  }
}

/** The index of a partitioned table itself holds nothing: partitions have the entries. */
async function createOnParent(db: Database, index: ReaderIndex): Promise<void> {
  const { name, table } = index;
  await untilUnlocked(() =>
    db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.parentIndex)})`.execute(trx);
      const { rows } = await sql<{ oid: string | null }>`select to_regclass(${name})::oid as oid`.execute(trx);
      if (rows[0]?.oid !== null) return;
      await sql`set local lock_timeout = '200ms'`.execute(trx);
      if (await isEmpty(trx, table)) await createPartitionedIndex(trx, index, table);
      else await createIndex(index, { name, table, how: 'only' }).execute(trx);
    }),
  );
}

type How = 'concurrently' | 'plain';

async function buildMissing(db: Database, how: How): Promise<void> {
  for (const missing of await listMissing(db)) {
    const { index, name, table, broken } = missing;
    if (broken) await sql`drop index ${sql.raw(how === 'plain' ? '' : how)} ${sql.ref(name)}`.execute(db);
    await createIndex(index, { name, table, how }).execute(db);
    await attachTo(db, index.name, name);
  }
}

/** Takes a short lock on the new index only. */
async function attachTo(db: Database, parent: string, name: string): Promise<void> {
  await untilUnlocked(() =>
    db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '200ms'`.execute(trx);
      await sql`alter index ${sql.ref(parent)} attach partition ${sql.ref(name)}`.execute(trx);
    }),
  );
}

async function listMissing(db: Database): Promise<Missing[]> {
  return (await Promise.all(readerIndexes.map((index) => missingOnPartitions(db, index)))).flat();
}

async function missingOnPartitions(db: Database, index: ReaderIndex): Promise<Missing[]> {
  const suffix = suffixOf(index);
  const { rows } = await sql<{ table: string; broken: boolean }>`
    select p.relname as table, to_regclass(p.relname || ${suffix}) is not null as broken
    from pg_inherits i join pg_class p on p.oid = i.inhrelid
    where i.inhparent = to_regclass(${index.table}) and not exists (
      select from pg_inherits c join pg_index x on x.indexrelid = c.inhrelid
      where c.inhparent = to_regclass(${index.name}) and x.indrelid = p.oid and x.indisvalid
    )
    order by p.relname desc
  `.execute(db);
  return rows.map(({ table, broken }) => ({ index, table, name: `${table}${suffix}`, broken }));
}
