import type { Database } from '../../database.ts';
import { sql } from '../../sql.ts';
import { firstDatabase, readPlaces } from '../organization-map.ts';
import { readMove } from './fence.ts';
import { databaseOf, MoveError, withMoveLock, type MoveOptions } from './move.ts';

/** Rows of one transaction. */
const sliceSize = 5_000;

/** The rows of an organization, in the order in which they go: no event without its execution. */
const tables = [
  { name: 'events', key: 'created_at, id' },
  { name: 'executions', key: 'automation_id, execution_id' },
  { name: 'dead_letters', key: 'id' },
] as const;

/**
 * Deletes the rows of an organization from all databases but its own.
 * @throws {MoveError} while a move is under way.
 */
export function cleanOrganization(options: MoveOptions): Promise<void> {
  return withMoveLock(options, async (first) => {
    const { databases, organization, logger } = options;
    const own = (await readPlaces(first)).get(organization)?.database ?? firstDatabase;
    if ((await readMove(databaseOf(options, own), organization)) !== undefined) {
      throw new MoveError('a move is under way: end or cancel it first');
    }
    for (const [database, db] of databases) {
      if (database === own) continue;
      for (const { name, key } of tables) {
        const rows = await deleteRows(db, organization, name, key);
        if (rows > 0) logger.info({ organization, database, table: name, rows }, 'rows are deleted');
      }
    }
  });
}

async function deleteRows(db: Database, organization: string, table: string, key: string): Promise<number> {
  let all = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where organization = ${organization} and (${sql.raw(key)}) in (
        select ${sql.raw(key)} from ${sql.table(table)} where organization = ${organization}
        order by ${sql.raw(key)} limit ${sql.lit(sliceSize)}
      )
    `.execute(db);
    all += Number(numAffectedRows);
    if (Number(numAffectedRows) < sliceSize) return all;
  }
}
