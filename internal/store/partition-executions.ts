import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { advisoryLocks } from './advisory-locks.ts';
import { columnsOf, requireEqual } from './compare-copy.ts';
import { copyChunk } from './copy-chunk.ts';
import { createPartitionedIndex } from './create-partitioned-index.ts';
import type { Database } from './database.ts';
import { createCopy, isPartitioned, replaceByCopy } from './executions-copy.ts';
import { ensureMirror } from './executions-mirror.ts';
import { readerIndexes } from './indexes.ts';
import { untilUnlocked } from './until-unlocked.ts';
import { withTurn } from './with-turn.ts';

/** How far the copying is. */
export interface CopyProgress {
  /** Executions that are copied. */
  copied: number;
  /** The part of the table that is read, from 0 to 1. */
  share: number;
}

export interface PartitionOptions {
  /** A larger table stays as it is, in bytes. */
  mostBytes: number;
  /** False for an embedded Postgres with one session. */
  concurrently: boolean;
  /** Called after each chunk. */
  onProgress?: ((progress: CopyProgress) => void) | undefined;
  /** Called once the partitions have replaced the table. */
  onPartitioned?: (() => void) | undefined;
  /** Called if the table stays as it is, with the reason. */
  onLeft?: ((reason: string) => void) | undefined;
}

/** The copying pauses for as long as it took: writers get half of the time. */
const restPerWork = 1;

/**
 * Moves `executions` into partitions while workers write (ARCHITECTURE.md, "Partitions of
 * executions"). A call continues where an interrupted one ended. It waits for no other process that
 * moves the table: none needs the partitions.
 */
export async function partitionExecutions(db: Database, options: PartitionOptions): Promise<void> {
  if (await isPartitioned(db, 'executions')) return;
  const obstacle = await findObstacle(db, options.mostBytes);
  if (obstacle !== undefined) {
    options.onLeft?.(obstacle);
    return;
  }
  const work = (): Promise<void> => partition(db, options);
  if (options.concurrently) await withTurn(db, advisoryLocks.partitioning, work);
  else await work();
}

/** A view follows its table, not the name: it would keep Postgres from dropping the old one. */
async function findObstacle(db: Database, mostBytes: number): Promise<string | undefined> {
  const { rows } = await sql<{ bytes: number; views: string | null }>`
    select pg_relation_size('executions')::float8 as bytes, string_agg(distinct ev_class::regclass::text, ', ') as views
    from pg_depend join pg_rewrite on pg_rewrite.oid = objid
    where classid = 'pg_rewrite'::regclass and refclassid = 'pg_class'::regclass and refobjid = 'executions'::regclass
  `.execute(db);
  const { bytes = 0, views = null } = rows[0] ?? {};
  if (views !== null) return `views depend on it: ${views}`;
  return bytes > mostBytes ? `it has ${bytes} bytes` : undefined;
}

async function partition(db: Database, { onProgress, onPartitioned }: PartitionOptions): Promise<void> {
  if (await isPartitioned(db, 'executions')) return;
  await ensureCopy(db);
  await ensureMirror(db);
  for (;;) {
    const begun = performance.now();
    const { nextBlock, blocks, copied } = await untilUnlocked(() => copyChunk(db));
    onProgress?.({ copied, share: blocks === 0 ? 1 : Math.min(1, nextBlock / blocks) });
    if (nextBlock >= blocks) break;
    await sleep((performance.now() - begun) * restPerWork);
  }
  // Statistics and the visibility map, which readers need from the first query on.
  await sql`vacuum (analyze) executions_partitioned`.execute(db);
  await requireEqual(db);
  await untilUnlocked(() => swap(db));
  onPartitioned?.();
}

/**
 * Creates the copy with its indexes. A copy with other columns is from before another migration:
 * it is dropped and created again.
 */
async function ensureCopy(db: Database): Promise<void> {
  await untilUnlocked(() =>
    db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '200ms'`.execute(trx);
      const columns = await columnsOf(trx, 'executions_partitioned');
      if (columns === (await columnsOf(trx, 'executions'))) return;
      if (columns !== null) await dropCopy(trx);
      await createCopy(trx);
      for (const index of readerIndexes.filter(({ table }) => table === 'executions')) {
        await createPartitionedIndex(trx, index, 'executions_partitioned');
      }
    }),
  );
}

async function dropCopy(db: Database): Promise<void> {
  await sql`drop function if exists mirror_executions cascade`.execute(db);
  await sql`drop table if exists executions_partitioning`.execute(db);
  await sql`drop table executions_partitioned`.execute(db);
}

async function swap(db: Database): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '200ms'`.execute(trx);
    await sql`lock table executions in access exclusive mode`.execute(trx);
    if ((await columnsOf(trx, 'executions_partitioned')) !== (await columnsOf(trx, 'executions'))) {
      throw new Error('a migration has changed executions meanwhile; migrate again');
    }
    await replaceByCopy(trx);
    await sql`drop function mirror_executions`.execute(trx);
    await sql`drop table executions_partitioning`.execute(trx);
  });
}
