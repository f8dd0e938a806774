import { sql, type Transaction } from 'kysely';
import { newSalt } from '../../event/digest.ts';
import { optionalFields } from '../../event/fields.ts';
import { textsDigestOf } from '../../ledger/event-digest.ts';
import { storedJson } from '../../ledger/stored-json.ts';
import { bytesArray, textArray, timeArray, uuidArray } from '../array-parameters.ts';
import type { Tables } from '../database.ts';
import type { EventRow } from '../tables/events-table.ts';
import { withKeys, type EventKey } from './find-texts.ts';
import { noteRewritten, writtenBy } from './rewritten-events.ts';

/** Events whose texts are read at once: each may have 100 kB. */
const atOnce = 200;

/**
 * Empties the texts of events and deletes their salts; resolves with the ids of the events that had
 * texts. Their digest stays: the leaf can still be computed from it, and without the salt nobody
 * can test guesses against it. Texts without a salt have no leaf yet: their digest gets a new salt.
 */
export async function eraseTexts(
  trx: Transaction<Tables>,
  organization: string,
  keys: readonly EventKey[],
): Promise<string[]> {
  const erased: string[] = [];
  for (let at = 0; at < keys.length; at += atOnce) {
    const { rows } = await sql<EventRow>`
      select * from events where ${withKeys(organization, keys.slice(at, at + atOnce))} and texts_digest is null
      order by created_at, id for update
    `.execute(trx);
    if (rows.length > 0) await empty(trx, organization, rows);
    erased.push(...rows.map(({ id }) => id));
  }
  return erased;
}

const texts = sql.join(optionalFields.map(({ column }) => sql`${sql.ref(column)} = ''`));

async function empty(trx: Transaction<Tables>, organization: string, rows: readonly EventRow[]): Promise<void> {
  const stored = sql`select organization, created_at, id, ${writtenBy('events')} as stored_by from events`;
  await noteRewritten(sql`${stored} where ${withKeys(organization, rows)}`).execute(trx);
  const digests = rows.map((row) => textsDigestOf(storedJson(row).texts, row.salt ?? newSalt()));
  await sql`
    update events e set ${texts}, salt = null, texts_digest = l.digest
    from unnest(
      ${textArray(rows.map((row) => row.organization))},
      ${timeArray(rows.map((row) => row.created_at.getTime()))},
      ${uuidArray(rows.map(({ id }) => id))},
      ${bytesArray(digests)}
    ) as l (organization, created_at, id, digest)
    where (e.organization, e.created_at, e.id) = (l.organization, l.created_at, l.id)
  `.execute(trx);
}
