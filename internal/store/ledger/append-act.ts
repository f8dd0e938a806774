import { sql, type Kysely } from 'kysely';
import { createIdentitySource } from '../../event/identity.ts';
import { leafOfAct, writeAct, type Act } from '../../ledger/act.ts';
import { macOf, type MacKey } from '../../ledger/mac.ts';
import type { Tables } from '../database.ts';

const identify = createIdentitySource();

/**
 * Writes an act of an organization and its leaf for the log, in one statement, so that nobody can
 * deny or backdate what somebody did. Run it in the transaction of the decision, in the database of
 * the organization; a console sets `runledger.organization` first. `key`: `macKeysOf` of a worker
 * or command, `actKeysFrom` of a controller or console, the first one; without one there is no log,
 * and it does nothing. `kind` and `details` are those of `actKinds`; details are ids and times,
 * never a text.
 */
export async function appendAct(
  db: Kysely<Tables>,
  key: MacKey | undefined,
  given: Omit<Act, 'id' | 'at'>,
): Promise<void> {
  await appendActs(db, key, [newAct(given)]);
}

/** An act of now. */
export function newAct(given: Omit<Act, 'id' | 'at'>): Act {
  const { id, createdAt } = identify();
  return { ...given, id, at: new Date(createdAt) };
}

/** {@link appendAct} for an act that already has an id. Does nothing if the log has it. */
export async function appendGivenAct(db: Kysely<Tables>, key: MacKey | undefined, act: Act): Promise<void> {
  await appendActs(db, key, [act]);
}

/** The same for several acts. */
export async function appendActs(db: Kysely<Tables>, key: MacKey | undefined, acts: readonly Act[]): Promise<void> {
  if (key === undefined || acts.length === 0) return;
  const rows = acts.map((act) => {
    const text = writeAct(act);
    const leaf = leafOfAct(act.id, text);
    return { ...act, text, leaf, mac: macOf(key, act.organization, leaf) };
  });
  await sql`
    with given as (
      select * from unnest(
        ${rows.map(({ organization }) => organization)}::text[], ${rows.map(({ id }) => id)}::uuid[],
        ${rows.map(({ text }) => text)}::text[], ${rows.map(({ leaf }) => leaf)}::bytea[],
        ${rows.map(({ mac }) => mac)}::bytea[]
      ) as given (organization, id, act, leaf, mac)
    ),
    written as (
      insert into log_acts (organization, id, act) select organization, id, act from given
      on conflict do nothing returning organization, id
    )
    insert into log_segments (organization, leaves, mac)
    select organization, leaf, mac from given join written using (organization, id)
  `.execute(db);
}
