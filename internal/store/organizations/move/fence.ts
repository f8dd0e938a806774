import type { Database } from '../../database.ts';
import { sql } from '../../sql.ts';
import { untilUnlocked } from '../../until-unlocked.ts';

/** The tables whose rows a closed organization may not add. */
const fenced = ['events', 'dead_letters'] as const;

/** How far a move has come, in the database that the organization leaves. */
export interface MoveState {
  target: string;
  closed: boolean;
  /** The keys of the last copied rows, by table, as JSON. */
  progress: Record<string, string>;
}

/** The move that an organization leaves this database with; undefined if there is none. */
export async function readMove(source: Database, organization: string): Promise<MoveState | undefined> {
  return source
    .selectFrom('moved_organizations')
    .select(['target', 'closed', 'progress'])
    .where('organization', '=', organization)
    .executeTakeFirst();
}

/**
 * Begins to note the keys of the events that are stored. The lock waits for the statements under
 * way: what they store is visible afterwards, and later statements meet the triggers. They stay for
 * good, so that no worker can write an organization that has left.
 */
export async function beginMove(source: Database, organization: string, target: string): Promise<void> {
  await underLock(source, async (trx) => {
    for (const table of fenced) {
      await sql`
        create or replace trigger note_moving_organizations after insert on ${sql.table(table)}
        referencing new table as added for each statement execute function note_moving_organizations()
      `.execute(trx);
    }
    await trx
      .insertInto('moved_organizations')
      .values({ organization, target })
      .onConflict((conflict) => conflict.column('organization').doUpdateSet({ target, closed: false, progress: '{}' }))
      .execute();
  });
}

/**
 * Closes the database for an organization. The lock waits for the statements under way. Every later
 * one is refused, whatever map its worker has.
 */
export async function closeMove(source: Database, organization: string): Promise<void> {
  await underLock(source, async (trx) => {
    await trx
      .updateTable('moved_organizations')
      .set({ closed: true })
      .where('organization', '=', organization)
      .execute();
  });
}

/** Opens a database again for an organization. */
export async function openFence(db: Database, organization: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('moved_organizations').where('organization', '=', organization).execute();
    await trx.deleteFrom('moving_events').where('organization', '=', organization).execute();
  });
}

/** Runs a step while no statement stores events; those that come wait up to two seconds for it. */
function underLock(db: Database, step: (trx: Database) => Promise<void>): Promise<void> {
  return untilUnlocked(() =>
    db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '2s'`.execute(trx);
      for (const table of fenced) {
        await sql`lock table only ${sql.table(table)} in share row exclusive mode`.execute(trx);
      }
      await step(trx);
    }),
  );
}
