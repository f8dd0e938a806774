import { expect } from 'chai';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { declareChannel, invoices, transition } from '../../support/notify/expectations.ts';
import { suiteChannels } from '../../support/notify/suite-channels.ts';

describe('channels', () => {
  const suite = suiteChannels();
  const { database, tick, deliveries } = suite;

  it('carry the run of an alert, its page and the first line of its error', async () => {
    const error = { errorId: 'E-LEDGER', errorDescription: 'The ledger is not closed.\nat close' };
    await recordEvents(database.db, [
      anEvent({ automationId: invoices, executionId: 'run 17', kind: 'START' }),
      anEvent({ automationId: invoices, executionId: 'run 17', kind: 'ERROR', ...error }),
    ]);
    await declareChannel(database.db, { url: suite.receiver.url });
    const facts = { execution: 'run 17', failed: 1 };
    await tick([transition('opened', { kind: 'failing', facts }), transition('opened')]);
    const runs = (await deliveries()).map(({ event }) => (event['data'] as { alert: { run: unknown } }).alert.run);
    const console = `https://console.example/runledger/o/acme/executions/${invoices}/run%2017`;
    expect(runs).to.deep.equal([
      {
        execution_id: 'run 17',
        console,
        error_id: 'E-LEDGER',
        error: 'The ledger is not closed.',
        error_lines: 'The ledger is not closed.\nat close',
      },
      null,
    ]);
  });
});
