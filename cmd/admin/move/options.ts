import { declare } from '../command.ts';

export const move = declare({
  summary: 'Moves an organization to another database, while it sends events.',
  options: {
    organization: { type: 'string', value: 'ID', text: 'the organization', required: true },
    to: {
      type: 'string',
      value: 'DATABASE',
      text: 'moves it there: a name of DATABASE_URLS, or first for DATABASE_URL',
    },
    cancel: { type: 'boolean', text: 'gives up a move that has not ended' },
    clean: { type: 'boolean', text: 'deletes what is left in the databases that it has left' },
  },
  settings: ['DATABASE_URL', 'DATABASE_URLS', 'LOG_LEVEL'],
  notes: 'One of --to, --cancel and --clean is required. The same command continues a move that was stopped.',
});
