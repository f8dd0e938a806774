import { sql, type RawBuilder } from 'kysely';

/**
 * Several byte strings as the rows of a parameter: `select bytes from …`, with `columns` beside.
 * They travel as one: the client writes an array of bytes as a text of hexadecimal digits. The
 * names of columns become part of the statement.
 */
export function rowsOfBytes(bytes: readonly Buffer[], columns: Readonly<Record<string, RawBuilder<unknown>>>) {
  const lengths = bytes.map(({ length }) => length);
  let end = 1;
  const starts = lengths.map((length) => (end += length) - length);
  const names = sql.raw(Object.keys(columns).join(', '));
  return sql`(
    select ${names}, substring(${Buffer.concat(bytes)}::bytea from first_byte for length) as bytes
    from unnest(${sql.join(Object.values(columns))}, ${starts}::integer[], ${lengths}::integer[])
      as t (${names}, first_byte, length)
  )`;
}
