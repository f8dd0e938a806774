import { sql, type Kysely } from 'kysely';
import { createIdentitySource } from '../../event/identity.ts';
import { leafOfAct, writeAct, type Act } from '../../ledger/act.ts';
import { macOf, type MacKey } from '../../ledger/mac.ts';
import type { Tables } from '../database.ts';

const identify = createIdentitySource();

/**
 * Writes an act of an organization and its leaf for the log, in one statement. The caller may run
 * it in the transaction that the act is about.
 */
export async function appendAct(
  db: Kysely<Tables>,
  key: MacKey,
  given: Pick<Act, 'organization' | 'kind' | 'by' | 'details'>,
): Promise<void> {
  const { id, createdAt } = identify();
  await appendGivenAct(db, key, { ...given, id, at: new Date(createdAt) });
}

/** The same for an act that already has an id. Does nothing if the log has it. */
export async function appendGivenAct(db: Kysely<Tables>, key: MacKey, act: Act): Promise<void> {
  const { id, organization } = act;
  const text = writeAct(act);
  const leaf = leafOfAct(id, text);
  await sql`
    with written as (
      insert into log_acts (organization, id, act) values (${organization}, ${id}, ${text})
      on conflict do nothing returning id
    )
    insert into log_segments (organization, leaves, mac)
    select ${organization}, ${leaf}::bytea, ${macOf(key, organization, leaf)}::bytea from written
  `.execute(db);
}
