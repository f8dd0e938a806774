import type { Tables } from '../../database.ts';
import { sql, type Kysely, type RawBuilder } from '../../sql.ts';

/** A table of an organization, as a move copies it. */
export interface CopiedTable {
  name: string;
  /** All columns but generated ones. */
  columns: readonly string[];
  /** The columns after the organization that name a row, in the order of copying. */
  key: readonly string[];
  /** True if a row that exists is replaced; false if it stays, since it never changes. */
  replaces: boolean;
}

/** Rows of a table as JSON. Postgres writes and reads it, so no type of a value matters here. */
export interface CopiedRows {
  json: string;
  count: number;
  /** The key of the last row, by column; undefined without any. */
  last: Readonly<Record<string, string>> | undefined;
}

/** A row of several columns. */
function columnsOf(names: readonly string[], table?: string): RawBuilder<unknown> {
  return sql.join(names.map((name) => (table === undefined ? sql.ref(name) : sql.ref(`${table}.${name}`))));
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
      select ${columnsOf(columns)} from ${sql.table(name)}
      where organization = ${organization} ${further}
      order by ${columnsOf(key)} limit ${limit}
    ) as part
  `.execute(source);
  const { json = '[]', count = 0, last } = rows[0] ?? {};
  return { json, count, last: last ?? undefined };
}

/**
 * Reads the rows with these keys: the result of a query with the columns of the key. `within`: a
 * condition that all of them meet, and that spares Postgres the other partitions.
 */
export async function readRowsOf(
  source: Kysely<Tables>,
  { name, columns, key }: CopiedTable,
  organization: string,
  { keys, within }: { keys: RawBuilder<unknown>; within: RawBuilder<unknown> },
): Promise<CopiedRows> {
  const { rows } = await sql<CopiedRows>`
    select coalesce(json_agg(part), '[]')::text as json, count(*)::integer as count
    from (
      select ${columnsOf(columns, name)} from (select distinct * from (${keys}) as given) as wanted
      join ${sql.table(name)} using (${columnsOf(key)}) where organization = ${organization} and ${within}
    ) as part
  `.execute(source);
  const { json = '[]', count = 0 } = rows[0] ?? {};
  return { json, count, last: undefined };
}

/** Writes rows; safe twice. Only within a transaction that {@link mayWrite} began. */
export async function writeRows(
  target: Kysely<Tables>,
  { name, columns, key, replaces }: CopiedTable,
  { json, count }: CopiedRows,
): Promise<void> {
  if (count === 0) return;
  const others = columns.filter((column) => column !== 'organization' && !key.includes(column));
  const onConflict = replaces
    ? sql`on conflict (organization, ${columnsOf(key)}) do update set ${sql.join(
        others.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`),
      )}`
    : sql`on conflict do nothing`;
  await sql`
    insert into ${sql.table(name)} (${columnsOf(columns)})
    select ${columnsOf(columns)} from json_populate_recordset(null::${sql.table(name)}, ${json}::json)
    ${onConflict}
  `.execute(target);
}

/**
 * Lets this transaction write an organization that has left the database before, and comes back.
 * No other one may until the end of its move.
 */
export async function mayWrite(target: Kysely<Tables>, organization: string): Promise<void> {
  await sql`select set_config('runledger.moving', ${organization}, true)`.execute(target);
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
