import type { Kysely } from 'kysely';
import type { MacKey } from '../../ledger/mac.ts';
import type { Tables } from '../database.ts';
import { sql, type RawBuilder, type Selectable } from '../sql.ts';
import type { ActsTable } from '../tables/acts-table.ts';
import { isMade } from './act-mac.ts';

/**
 * The mutes, newest first, that end after a time and that nobody has ended. With a log, only acts
 * of owners count: a row that somebody added by SQL neither mutes nor ends a mute.
 * @param actKeys the keys with which consoles write acts; empty without a log.
 */
export async function readMutes(
  db: Kysely<Tables>,
  time: RawBuilder<unknown>,
  actKeys: readonly MacKey[],
  organization?: string,
): Promise<Selectable<ActsTable>[]> {
  const own = organization === undefined ? sql`true` : sql`a.organization = ${organization}`;
  const lasts = (mute: string) => sql`
    ${sql.ref(`${mute}.kind`)} = 'mute'
      and (${sql.ref(`${mute}.until_at`)} is null or ${sql.ref(`${mute}.until_at`)} > ${time})
  `;
  const { rows } = await sql<Selectable<ActsTable>>`
    select * from acts a
    where ${own} and (${lasts('a')} or a.kind = 'unmute' and exists (
      select from acts m where m.organization = a.organization and m.id = a.about and ${lasts('m')}
    ))
    order by made_at desc
  `.execute(db);
  const acts = rows.filter((row) => isMade(actKeys, row));
  const ended = new Set(acts.filter(({ kind }) => kind === 'unmute').map((end) => `${end.organization}/${end.about}`));
  return acts.filter(({ kind, organization: of, id }) => kind === 'mute' && !ended.has(`${of}/${id}`));
}
