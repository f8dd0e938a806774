import type { Tables } from '../../database.ts';
import { sql, type Kysely, type RawBuilder } from '../../sql.ts';

/** A table that a move copies. */
export interface CopiedTable {
  name: string;
  /** All columns but generated ones. */
  columns: readonly string[];
  /**
   * The columns that identify a row within an organization, in the order of copying. A generated
   * one gets another value in the target.
   */
  key: readonly string[];
}

/**
 * Rows of a table as JSON. Postgres both writes and reads it, so value types do not matter here.
 */
export interface CopiedRows {
  json: string;
  count: number;
  /** The key of the last row, by column; undefined without any. */
  last: Readonly<Record<string, string>> | undefined;
}

/** A row of several columns. */
function columnsOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)));
}

/** Reads the next rows of an organization, after a key. */
export async function readRows(
  source: Kysely<Tables>,
  { name, columns, key }: CopiedTable,
  { organization, after, limit }: { organization: string; after: CopiedRows['last']; limit: number },
): Promise<CopiedRows> {
  const further =
    after === undefined
      ? sql``
      : sql`and (${columnsOf(key)}) > (${sql.join(key.map((column) => sql`${after[column]}`))})`;
  const { rows } = await sql<Omit<CopiedRows, 'last'> & { last: Readonly<Record<string, string>> | null }>`
    select coalesce(json_agg(part), '[]')::text as json, count(*)::integer as count, json_agg(part) -> -1 as last
    from (
      select ${columnsOf([...new Set([...columns, ...key])])} from ${sql.table(name)}
      where organization = ${organization} ${further}
      order by ${columnsOf(key)} limit ${limit}
    ) as part
  `.execute(source);
  const { json = '[]', count = 0, last } = rows[0] ?? {};
  return { json, count, last: last ?? undefined };
}

/** Writes rows, and keeps those that exist. */
export async function writeRows(
  target: Kysely<Tables>,
  { name, columns, key }: CopiedTable,
  { json, count }: CopiedRows,
): Promise<void> {
  if (count === 0) return;
  await sql`
    insert into ${sql.table(name)} (${columnsOf(columns)})
    select ${columnsOf(columns)} from json_populate_recordset(null::${sql.table(name)}, ${json}::json)
    order by ${columnsOf(key)} on conflict do nothing
  `.execute(target);
}

/** @throws when the tables of two databases do not have the same columns. */
export async function columnsOfBoth(
  source: Kysely<Tables>,
  target: Kysely<Tables>,
  table: string,
): Promise<readonly string[]> {
  const [here, there] = await Promise.all([columnsIn(source, table), columnsIn(target, table)]);
  if (here.length > 0 && here.join() === there.join()) return here;
  throw new Error(`the table ${table} differs: run the migrations of this release in both databases`);
}

async function columnsIn(db: Kysely<Tables>, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped
      and attgenerated = '' and attidentity = '' order by attname
  `.execute(db);
  return rows.map(({ name }) => name);
}
