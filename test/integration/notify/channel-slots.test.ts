import { expect } from 'chai';
import { lookUp } from '../../../internal/controller/notify/look-up.ts';
import { hostileReceivers } from '../../support/notify/hostile-receivers.ts';
import { declareChannel, transition } from '../../support/notify/expectations.ts';
import { suiteChannels } from '../../support/notify/suite-channels.ts';
import { until } from '../../support/until.ts';

const automation = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** As in production: the pauses of the suite are shorter. */
const timings = { intervalMs: 1_000, timeoutMs: 10_000 };

describe('channels of a hostile organization', () => {
  const suite = suiteChannels();
  const { database, start, tick } = suite;

  /** Puts 20 notifications of each of these organizations into the outbox. */
  const enqueue = (organizations: readonly string[]): Promise<void> =>
    tick(
      organizations.flatMap((organization) =>
        Array.from({ length: 20 }, (_, number) =>
          transition('opened', { organization, automationId: automation(number) }),
        ),
      ),
    );

  /** Attempts that have begun, and the organizations that have one. */
  const begun = async (): Promise<{ attempts: number; organizations: number }> => {
    const { attempts, organizations } = await database.db
      .selectFrom('deliveries')
      .select((row) => [
        row.fn.count<string>('id').as('attempts'),
        row.fn.count<string>('organization').distinct().as('organizations'),
      ])
      .where('attempts', '>', 0)
      .executeTakeFirstOrThrow();
    return { attempts: Number(attempts), organizations: Number(organizations) };
  };

  /** How long a quiet organization's notification takes from the outbox to its receiver, in ms. */
  const quietTakes = async (): Promise<number> => {
    const before = Date.now();
    await tick([transition('opened', { organization: 'quiet' })]);
    await until('the quiet organization hears', () => suite.receiver.received.length > 0, 60_000);
    return Date.now() - before;
  };

  for (const [how, startHostile] of Object.entries(hostileReceivers)) {
    it(`delay no other organization if the receiver ${how}`, async () => {
      await using hostile = await startHostile(suite.receiver.pair);
      const { url, nameServer } = hostile;
      for (let number = 1; number <= 6; number += 1) {
        await declareChannel(database.db, { organization: 'hostile', name: `hook-${number}`, url });
      }
      await declareChannel(database.db, { organization: 'quiet', url: suite.receiver.url });
      await enqueue(['hostile']);
      const lookup = lookUp({
        hosts: '/etc/hosts',
        resolvConf: '/dev/null',
        ...(nameServer !== undefined && { servers: [nameServer] }),
      });
      await start({ lookup, timings });
      await until('the hostile organization has its share', async () => (await begun()).attempts >= 20);
      expect(process.getActiveResourcesInfo(), 'threads that look up names').not.to.include('GetAddrInfoReqWrap');
      const ms = await quietTakes();
      // One attempt of the hostile organization takes longer, unless the machine has stood still.
      expect(ms).to.be.below(timings.timeoutMs);
    });
  }

  it('delay no other one, however many hostile organizations there are', async () => {
    await using hostile = await hostileReceivers['never answers']?.(suite.receiver.pair);
    const { url = '' } = hostile ?? {};
    const organizations = Array.from({ length: 60 }, (_, number) => `hostile-${number}`);
    for (const organization of organizations) await declareChannel(database.db, { organization, url });
    await declareChannel(database.db, { organization: 'quiet', url: suite.receiver.url });
    await enqueue(organizations);
    await start({ timings });
    await until('each of them has a slot', async () => (await begun()).organizations === organizations.length);
    const ms = await quietTakes();
    expect(ms).to.be.below(timings.timeoutMs);
  });

  it('do not let others wait for the next look into an idle outbox', async () => {
    await using hostile = await hostileReceivers['never answers']?.(suite.receiver.pair);
    await declareChannel(database.db, { organization: 'hostile', url: hostile?.url ?? '' });
    await enqueue(['hostile']);
    let statements = 0;
    const db = database.db.withPlugin({
      transformQuery: ({ node }) => {
        statements += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    await start({ db, timings: { timeoutMs: 60_000, intervalMs: 60_000 } });
    await until('attempts are under way', async () => (await begun()).attempts > 0);
    const before = statements;
    await until('it is looked at ten more times', () => statements >= before + 20);
  });
});
