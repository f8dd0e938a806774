/** Kysely's SQL template, for `internal/record`: only this folder imports the library. */
export { sql, type Insertable, type Kysely, type RawBuilder, type Selectable, type Transaction } from 'kysely';
