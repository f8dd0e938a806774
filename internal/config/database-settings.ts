import { databaseUrls, postgresUrl } from './validators.ts';

/** The settings of the connections to Postgres. */
export const databaseSettings = {
  DATABASE_URL: postgresUrl({ desc: 'postgres://user:password@host:5432/database' }),
  DATABASE_URLS: databaseUrls({
    default: undefined,
    desc: 'Further Postgres databases, each for some organizations: name=postgres://…, separated by spaces (`first` is DATABASE_URL)',
  }),
  CONSOLE_DATABASE_URL: postgresUrl({
    default: undefined,
    desc: 'The Postgres that the console reads; DATABASE_URL unless set. To read a replica, set both: sessions are written to DATABASE_URL',
  }),
  CONSOLE_DATABASE_URLS: databaseUrls({
    default: undefined,
    desc: 'Replicas of DATABASE_URLS that the console reads, under the same names',
  }),
};
