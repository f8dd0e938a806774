import { declare } from '../command.ts';
import { databaseSettings } from '../databases-settings.ts';

export const seal = declare({
  summary: 'Gives the events of an organization that have no leaf in its log their leaves.',
  options: {
    organization: { type: 'string', value: 'ID', text: 'the organization', required: true },
    by: { type: 'string', value: 'WHO', text: 'who seals: recorded for ever', required: true },
    reason: { type: 'string', value: 'WHY', text: 'and why: recorded for ever', required: true },
    yes: { type: 'boolean', text: 'seals them; without it the command only counts' },
  },
  settings: [...databaseSettings, 'LEDGER_MAC_KEY', 'LEDGER_KEY'],
  notes:
    'For events from before the log, of a worker that ran without LEDGER_KEY, or that somebody restored from the dead ' +
    'letters. Look at why an event lacks its leaf first: verify reports one that somebody inserted in the same way. ' +
    'The log records who sealed how many events of which range, and why.',
});
