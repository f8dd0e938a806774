/** The settings of every command that opens the databases. Apart, so that a help loads nothing. */
export const databaseSettings = ['DATABASE_URL', 'DATABASE_URLS'] as const;
