import type { Logger } from '../../../kit/telemetry/logger.ts';
import type { Tables } from '../../database.ts';
import { sql, type Transaction } from '../../sql.ts';
import { passFence, readMove } from './fence.ts';
import { declared, replicated, type NamedDatabase } from './moved-tables.ts';
import { placeOf, withMoveLock, type MoveOptions } from './options.ts';
import { MoveError } from './replication.ts';

/** Rows of one transaction. */
const sliceSize = 5_000;

/**
 * Deletes the rows of an organization from all databases but its own.
 * @throws {MoveError} while a move is under way.
 */
export function cleanOrganization(options: MoveOptions): Promise<void> {
  return withMoveLock(options, async (first) => {
    const { databases, organization, logger } = options;
    const own = await placeOf(options, first);
    if ((await readMove(own.db, organization)) !== undefined) {
      throw new MoveError('a move is under way: end or cancel it first');
    }
    for (const database of databases.values()) {
      if (database === own) continue;
      await deleteRecord(database, organization, logger);
      await database.db.transaction().execute((trx) => deleteDeclared(trx, organization));
    }
  });
}

/** Deletes the record and the log of an organization: no event ever lacks its execution. */
export async function deleteRecord({ name, db }: NamedDatabase, organization: string, logger: Logger): Promise<void> {
  for (const { name: table, key } of replicated) {
    let all = 0;
    for (;;) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} where organization = ${organization} and (${sql.raw(key)}) in (
          select ${sql.raw(key)} from ${sql.table(table)} where organization = ${organization}
          order by ${sql.raw(key)} limit ${sql.lit(sliceSize)}
        )
      `.execute(db);
      all += Number(numAffectedRows);
      if (Number(numAffectedRows) < sliceSize) break;
    }
    if (all > 0) logger.info({ organization, database: name, table, rows: all }, 'rows deleted');
  }
}

/**
 * Deletes what owners declared in the console. From then on the fence lets the transaction pass.
 */
export async function deleteDeclared(trx: Transaction<Tables>, organization: string): Promise<void> {
  await passFence(trx);
  for (const { name } of declared) {
    await sql`delete from ${sql.table(name)} where organization = ${organization}`.execute(trx);
  }
}
