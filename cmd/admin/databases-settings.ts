/**
 * The settings of every command that opens the databases. In its own file, so that a help text
 * loads nothing else.
 */
export const databaseSettings = ['DATABASE_URL', 'DATABASE_URLS'] as const;
