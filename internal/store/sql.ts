/** Kysely's SQL template, for `internal/record`: one folder imports the library. */
export { sql, type RawBuilder, type Transaction } from 'kysely';
