import { declare } from '../command.ts';

export const migrate = declare({
  summary: 'Brings the schema of every database up to date.',
  options: {},
  settings: ['DATABASE_URL', 'DATABASE_URLS', 'LOG_LEVEL'],
  notes:
    'Waits two minutes for a Postgres that starts. Any number of processes may run it at once. Another database than ' +
    'the first one may be away: its organizations wait, and the next run migrates it.',
});
