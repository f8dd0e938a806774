import { sql, type Kysely, type RawBuilder } from 'kysely';
import { containing } from '../../event/folded-text.ts';
import { optionalFields } from '../../event/fields.ts';
import { namesIn } from '../compacted/expanded.ts';
import type { Tables } from '../database.ts';
import type { ErasureScope } from './erasure-scope.ts';

/** The key of an event within its organization. */
export interface EventKey {
  readonly created_at: Date;
  readonly id: string;
}

/** Events that are read at once. */
const pageSize = 2_000;

/** All texts of an event, each beginning a new line; a text to find may span several lines. */
const texts = sql<string>`concat_ws(e'\\n', ${sql.join(optionalFields.map(({ column }) => sql.ref(column)))})`;
const hasTexts = sql<boolean>`concat(${sql.join(optionalFields.map(({ column }) => sql.ref(column)))}) <> ''`;

/**
 * Finds the events of a scope whose texts contain its text, oldest first, a page at a time.
 * Compares them here, since `lower` in Postgres depends on `lc_ctype`.
 */
export async function* findTexts(
  db: Kysely<Tables>,
  { organization, before, text = '' }: ErasureScope,
  after?: EventKey,
): AsyncGenerator<EventKey[]> {
  const holds = containing(text);
  let last = after;
  for (;;) {
    const further = last === undefined ? sql`` : sql`and (created_at, id) > (${last.created_at}, ${last.id}::uuid)`;
    const { rows } = await sql<EventKey & { texts: string }>`
      select created_at, id, ${texts} as texts from events
      where organization = ${organization} and created_at < ${before} and ${hasTexts} ${further}
      order by created_at, id limit ${pageSize}
    `.execute(db);
    yield rows.filter((row) => holds(row.texts)).map(({ created_at, id }) => ({ created_at, id }));
    last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
  }
}

/** The executions of an organization that have the text in their ids. */
export async function countNamed(db: Kysely<Tables>, { organization, text = '' }: ErasureScope): Promise<number> {
  const holds = containing(text);
  return (await countNamedRows(db, organization, holds)) + (await countNamedCompacted(db, organization, holds));
}

async function countNamedRows(
  db: Kysely<Tables>,
  organization: string,
  holds: (text: string) => boolean,
): Promise<number> {
  let found = 0;
  let last = '';
  for (;;) {
    const { rows } = await sql<{ execution_id: string; executions: string }>`
      select execution_id, count(*) as executions from executions
      where organization = ${organization} and execution_id collate "C" > ${last}
      group by execution_id order by execution_id collate "C" limit ${pageSize}
    `.execute(db);
    for (const row of rows) if (holds(row.execution_id)) found += Number(row.executions);
    last = rows.at(-1)?.execution_id ?? '';
    if (rows.length < pageSize) return found;
  }
}

/** Blocks that are read at once. */
const blocksAtOnce = 20;

async function countNamedCompacted(
  db: Kysely<Tables>,
  organization: string,
  holds: (text: string) => boolean,
): Promise<number> {
  let found = 0;
  let last: string | undefined;
  for (;;) {
    const further = last === undefined ? sql`` : sql`and id > ${last}::integer`;
    const blocks = sql`
      select * from compacted_executions where organization = ${organization} ${further}
      order by id limit ${blocksAtOnce}
    `;
    const { rows } = await sql<{ block: string; names: string[] }>`
      select block::text, array_agg(execution_id) as names from (${namesIn(blocks)}) as names
      group by block order by names.block
    `.execute(db);
    for (const { names } of rows) found += names.filter(holds).length;
    last = rows.at(-1)?.block;
    if (rows.length < blocksAtOnce) return found;
  }
}

/** The events with these keys. */
export function withKeys(organization: string, keys: readonly EventKey[]): RawBuilder<unknown> {
  return sql`organization = ${organization} and (created_at, id) in (
    select * from unnest(${keys.map((key) => key.created_at)}::timestamptz[], ${keys.map(({ id }) => id)}::uuid[])
  )`;
}
