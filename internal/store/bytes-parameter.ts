import { sql, type RawBuilder } from 'kysely';

/**
 * Several byte strings as rows: `select bytes from …`, with `columns` beside them. They travel as
 * one parameter, since the client would write an array of bytes as hexadecimal text. Column names
 * become part of the statement.
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
