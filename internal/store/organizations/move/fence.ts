import { advisoryLocks } from '../../advisory-locks.ts';
import type { Database, Tables } from '../../database.ts';
import { sql, type Transaction } from '../../sql.ts';
import { listExpired } from '../../partitions/expired.ts';
import { withMaintenanceLock } from '../../partitions/with-maintenance-lock.ts';
import { untilUnlocked } from '../../until-unlocked.ts';
import { declared } from './moved-tables.ts';

/** The tables to which a closed organization may not add rows. */
const appended = ['events', 'dead_letters', 'erasures', 'log_acts', 'acts'] as const;

/** The triggers of a table that a closed organization may not change at all. */
const everyChange = [
  { name: 'refuse_moved_organizations', event: sql`insert`, rows: sql`new` },
  { name: 'refuse_moved_organizations_update', event: sql`update`, rows: sql`new` },
  { name: 'refuse_moved_organizations_delete', event: sql`delete`, rows: sql`old` },
] as const;

const fenced = [
  ...appended.map((table) => ({ table, triggers: everyChange.slice(0, 1) })),
  ...declared.map(({ name: table }) => ({ table, triggers: everyChange })),
];

/** How far a move has come, in the database that the organization leaves. */
export interface MoveState {
  target: string;
  under_way: boolean;
  closed: boolean;
  /** True once the target has everything. */
  copied: boolean;
}

/** The move that an organization leaves this database with; undefined if there is none. */
export async function readMove(source: Database, organization: string): Promise<MoveState | undefined> {
  return source
    .selectFrom('moved_organizations')
    .select(['target', 'under_way', 'closed', 'copied'])
    .where('organization', '=', organization)
    .executeTakeFirst();
}

/**
 * Notes in one of its databases that a move has begun, from which on maintenance moves and drops no
 * events there. Resolves with false while retention has dropped events whose executions it has not
 * deleted yet: only one of the databases would delete them.
 */
export function beginMove(db: Database, organization: string, other: string): Promise<boolean> {
  return withMaintenanceLock(db, async (trx) => {
    if ((await listExpired(trx)).length > 0) return false;
    const begun = { target: other, under_way: true, copied: false };
    await trx
      .insertInto('moved_organizations')
      .values({ organization, ...begun })
      .onConflict((conflict) => conflict.column('organization').doUpdateSet(begun))
      .execute();
    return true;
  });
}

/** Lets maintenance go on in a database that the organization is not in. */
export async function endMove(db: Database, organization: string): Promise<void> {
  await db
    .updateTable('moved_organizations')
    .set({ under_way: false })
    .where('organization', '=', organization)
    .execute();
}

/**
 * Closes a database for an organization that is in another one, or on its way there. The locks wait
 * for the statements under way and for the sealer. Every later statement is refused, whatever map
 * its worker has: the triggers are permanent.
 */
export async function closeDatabase(db: Database, organization: string, elsewhere: string): Promise<void> {
  await underLock(db, async (trx) => {
    for (const { table, triggers } of fenced) {
      for (const { name, event, rows } of triggers) {
        await sql`
          create or replace trigger ${sql.id(name)} after ${event} on ${sql.table(table)}
          referencing ${rows} table as added for each statement
          when (current_setting('runledger.moves', true) is distinct from 'on')
          execute function refuse_moved_organizations()
        `.execute(trx);
      }
    }
    const closed = { target: elsewhere, closed: true };
    await trx
      .insertInto('moved_organizations')
      .values({ organization, ...closed })
      .onConflict((conflict) => conflict.column('organization').doUpdateSet(closed))
      .execute();
  });
}

/** Lets the rest of a transaction change what the fence protects: a move itself does. */
export async function passFence(trx: Transaction<Tables>): Promise<void> {
  await sql`select set_config('runledger.moves', 'on', true)`.execute(trx);
}

/** Notes that the target has everything that the closed source had. */
export async function noteCopied(source: Database, organization: string): Promise<void> {
  await source
    .updateTable('moved_organizations')
    .set({ copied: true })
    .where('organization', '=', organization)
    .execute();
}

/** Reopens a database for an organization. */
export async function openDatabaseFor(db: Database, organization: string): Promise<void> {
  await db.deleteFrom('moved_organizations').where('organization', '=', organization).execute();
}

/**
 * Runs a step while no statement stores events. Its own wait for the locks ends after two seconds.
 */
function underLock(db: Database, step: (trx: Database) => Promise<void>): Promise<void> {
  return untilUnlocked(() =>
    db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '2s'`.execute(trx);
      await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.seal)})`.execute(trx);
      for (const { table } of fenced) {
        await sql`lock table only ${sql.table(table)} in share row exclusive mode`.execute(trx);
      }
      await step(trx);
    }),
  );
}
