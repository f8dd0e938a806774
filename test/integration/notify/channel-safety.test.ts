import { expect } from 'chai';
import { declareChannel, transition } from '../../support/notify/expectations.ts';
import { suiteChannels } from '../../support/notify/suite-channels.ts';
import { until } from '../../support/until.ts';

describe('channels', () => {
  const suite = suiteChannels();
  const { database, secret, start, tick, deliveries, allDelivered, failureOf } = suite;

  it('do not reach private addresses unless the channel and the operator allow them', async () => {
    await declareChannel(database.db, { url: suite.receiver.url });
    expect(await failureOf({ allowPrivate: false })).to.contain('private addresses are not allowed');
    expect(suite.receiver.received).to.have.lengthOf(0);
  });

  for (const host of [
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '169.254.169.254',
  ]) {
    it(`do not reach ${host}`, async () => {
      await declareChannel(database.db, { url: `https://${host}:${suite.receiver.port}/`, allowPrivate: false });
      expect(await failureOf({})).to.contain('private addresses are not allowed');
      expect(suite.receiver.received).to.have.lengthOf(0);
    });
  }

  it('never reach metadata services of clouds, wherever private addresses are allowed', async () => {
    await declareChannel(database.db, { url: 'https://169.254.169.254/latest/meta-data/' });
    expect(await failureOf({})).to.contain('private addresses are not allowed');
  });

  it('follow no redirect', async () => {
    suite.receiver.answer = (_, response) => response.writeHead(307, { Location: suite.receiver.url }).end();
    await declareChannel(database.db, { url: suite.receiver.url });
    expect(await failureOf({})).to.equal('the receiver answered 307');
    expect(suite.receiver.received).to.have.lengthOf(1);
  });

  it('wait for an answer no longer than the time-out', async () => {
    suite.receiver.answer = () => undefined;
    await declareChannel(database.db, { url: suite.receiver.url });
    expect(await failureOf({ timings: { timeoutMs: 100 } })).to.equal('no answer within 100 ms');
  });

  it('read an endless answer no further than they must', async () => {
    suite.receiver.answer = (_, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    await declareChannel(database.db, { url: suite.receiver.url });
    await start();
    await tick([transition('opened')]);
    await allDelivered(1);
  });

  it('wait as long as the receiver asks', async () => {
    suite.receiver.answer = (_, response) => response.writeHead(429, { 'Retry-After': '3600' }).end();
    await declareChannel(database.db, { url: suite.receiver.url });
    const before = Date.now();
    expect(await failureOf({})).to.equal('the receiver answered 429');
    const [row] = await deliveries();
    // Postgres rounds to the millisecond.
    expect((row?.next_attempt_at.getTime() ?? 0) - 3_600_000).to.be.within(before, Date.now() + 1);
  });

  it('wait a day at most, however often they failed', async () => {
    suite.receiver.answer = (_, response) => response.writeHead(500).end();
    await declareChannel(database.db, { url: suite.receiver.url });
    await tick([transition('opened')]);
    await database.db.updateTable('deliveries').set({ attempts: 20 }).execute();
    await start({ timings: { firstPauseMs: 5_000 } });
    const row = await until('the attempt has failed', async () => (await deliveries()).find((each) => each.last_error));
    expect(row.next_attempt_at.getTime() - Date.now()).to.be.within(40_000_000, 86_400_000);
  });

  it('say that a secret is missing or wrong, and send nothing', async () => {
    await declareChannel(database.db, { url: suite.receiver.url });
    expect(await failureOf({ secretsOf: () => [secret, 'whsec_c2hvcnQ='] })).to.equal(
      'its Secret has no valid signing key',
    );
    expect(suite.receiver.received).to.have.lengthOf(0);
  });
});
