import { advisoryLocks } from '../../advisory-locks.ts';
import type { Tables } from '../../database.ts';
import { sql, type Transaction } from '../../sql.ts';
import { firstDatabase, readPlaces } from '../organization-map.ts';
import type { NamedDatabase } from './moved-tables.ts';
import { MoveError, type Waiting } from './replication.ts';

export interface MoveOptions extends Waiting {
  /** By name, including the first one. */
  databases: ReadonlyMap<string, NamedDatabase>;
  organization: string;
}

/** The database where the organization is, by the map. */
export async function placeOf(options: MoveOptions, first: NamedDatabase): Promise<NamedDatabase> {
  return databaseOf(options, (await readPlaces(first.db)).get(options.organization)?.database ?? firstDatabase);
}

/** @throws {MoveError} for a name that no setting has. */
export function databaseOf({ databases }: MoveOptions, name: string): NamedDatabase {
  const database = databases.get(name);
  if (database !== undefined) return database;
  throw new MoveError(`there is no database ${name}, only ${[...databases.keys()].join(', ')}`);
}

/** Lets one process work at a time. `confirm` rejects when its lock is lost. */
export async function withMoveLock(
  options: MoveOptions,
  work: (first: NamedDatabase, confirm: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const first = databaseOf(options, firstDatabase);
  await first.db.transaction().execute(async (trx) => {
    if (!(await takeLock(trx))) throw new MoveError('another move is under way');
    await work(first, async () => void (await sql`select 1`.execute(trx)));
  });
}

async function takeLock(trx: Transaction<Tables>): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.move)}) as locked
  `.execute(trx);
  return rows[0]?.locked === true;
}
