import { sql, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import { blocks, columnsToCopy, file, list, lockOrder } from './executions-mirror.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';

/** Blocks of a chunk, 1 MB: some 3,500 executions, whose writers wait until it ends. */
const chunkBlocks = 128;

/** The block at which the next chunk begins, the number of blocks, and executions copied so far. */
export interface CopyState {
  nextBlock: number;
  blocks: number;
  copied: number;
}

/**
 * Copies the next blocks of `executions`, and notes the place in the same transaction. An execution
 * that the copy has is newer there: the trigger brought it. Blocks are read in their order, so that
 * the disk reads ahead.
 */
export function copyChunk(db: Database): Promise<CopyState> {
  return withMaintenanceLock(db, async (trx) => {
    // Nobody can write the table into another file meanwhile.
    await sql`lock table executions in access share mode`.execute(trx);
    const { nextBlock, blocks: count } = await readPlace(trx);
    const to = Math.min(nextBlock + chunkBlocks, count);
    const columns = await columnsToCopy(trx);
    const { numAffectedRows = 0n } = await sql`
      insert into executions_partitioned (${list(columns)})
      select ${list(columns)} from executions
      where ctid >= ${`(${nextBlock},0)`}::tid and ctid < ${`(${to},0)`}::tid
      order by ${lockOrder}
      on conflict do nothing
    `.execute(trx);
    const { rows } = await sql<{ copied: number }>`
      update executions_partitioning set next_block = ${to}, copied = copied + ${numAffectedRows.toString()}::bigint
      returning copied::float8 as copied
    `.execute(trx);
    return { nextBlock: to, blocks: count, copied: rows[0]?.copied ?? 0 };
  });
}

/** Begins again if the table has been written into another file. */
async function readPlace(trx: Transaction<Tables>): Promise<Omit<CopyState, 'copied'>> {
  await sql`
    update executions_partitioning set file = ${file}, next_block = 0, blocks = ${blocks} where file <> ${file}
  `.execute(trx);
  const { rows } = await sql<Omit<CopyState, 'copied'>>`
    select next_block::float8 as "nextBlock", blocks::float8 as blocks from executions_partitioning
  `.execute(trx);
  const [place] = rows;
  if (place === undefined) throw new Error('the table executions_partitioning is empty');
  return place;
}
