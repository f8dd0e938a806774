/** Per event: CPU time in µs; what is appended, logged and kept in bytes. */
export type Cost = 'ingest' | 'redis' | 'worker' | 'postgres' | 'appended' | 'wal' | 'kept';

/** What the scenario `costs` calls its figures; the capacity paper finds them by these names. */
export const names: Record<Cost, string> = {
  ingest: 'CPU of ingest',
  redis: 'CPU of Redis',
  worker: 'CPU of the worker',
  postgres: 'CPU of Postgres',
  appended: 'Redis appends to its file',
  wal: 'Postgres writes to its log',
  kept: 'Postgres keeps, with indexes',
};

/** The two ways in which events are stored. */
export const ways = { flow: 'in a steady flow', drain: 'in a drain' };
export type Way = keyof typeof ways;
