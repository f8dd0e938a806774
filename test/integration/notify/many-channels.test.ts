import { expect } from 'chai';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { declareChannel } from '../../support/notify/expectations.ts';
import { suiteChannels } from '../../support/notify/suite-channels.ts';

describe('notifications of an organization with many channels', () => {
  const suite = suiteChannels();
  const { database, tick, deliveries } = suite;

  it('come in parts, so that a tick of the others does not wait', async () => {
    const { db } = database;
    const kinds = ['execution.started'];
    for (let index = 0; index < 50; index += 1)
      await declareChannel(db, { name: `w-${index}`, url: suite.receiver.url, kinds });
    await declareChannel(db, { organization: 'quiet', url: suite.receiver.url, kinds });
    const begin = Date.now();
    await tick([], begin);
    const start = (organization: string, index: number) =>
      anEvent({ organization, executionId: `run-${index}`, kind: 'START', createdAt: begin + 10 + index });
    await recordEvents(db, [...Array.from({ length: 250 }, (_, index) => start('acme', index)), start('quiet', 240)]);
    const counts: number[][] = [];
    for (const ms of [1_000, 1_001, 1_002, 1_003]) {
      await tick([], begin + ms);
      const rows = await deliveries();
      counts.push(['acme', 'quiet'].map((name) => rows.filter(({ organization }) => organization === name).length));
    }
    expect(counts).to.deep.equal([
      [5_000, 1],
      [10_000, 1],
      [12_500, 1],
      [12_500, 1],
    ]);
  });
});
