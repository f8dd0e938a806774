import { expect } from 'chai';
import { eventBody } from '../../support/events.ts';
import { failoverMs, reportFailover, startCallers } from '../../support/failover.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { roleOf } from '../../support/replica.ts';
import { expectStored } from '../../support/rows.ts';
import { Sentinel, SentinelGroup } from '../../support/sentinels.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

describe('a Redis Sentinel', () => {
  it('at REDIS_URL is named as the cause, and no event is taken', async () => {
    await using sentinel = await Sentinel.start();
    await using ingest = await startIngest({ REDIS_URL: `redis://127.0.0.1:${sentinel.port}` });
    expect(ingest.unready()['redis']).to.equal(
      'Redis does not answer: REDIS_URL leads to a Redis Sentinel; name the Sentinels in REDIS_SENTINELS',
    );
    expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
  });

  describe('with REDIS_SENTINELS, under load', function () {
    this.timeout(180_000);
    let group: SentinelGroup;
    let database: string;
    before(async () => {
      group = await SentinelGroup.start();
      database = await migratedUrl();
    });
    after(() => group[Symbol.asyncDispose]());

    it('replaces a killed master; with REDIS_ACKS no acknowledged event is lost', async () => {
      const settings = { ...group.settings, DATABASE_URL: database, JOB_LOCK_MS: '1000' };
      await using worker = await startWorker(settings);
      await using ingest = await startIngest({ ...settings, REDIS_ACKS: '1' });
      await using without = await startIngest(settings);
      expect(worker).to.not.equal(undefined);
      await using callers = startCallers(ingest);
      await using others = startCallers(without);
      await callers.more(201, 50);
      const old = await group.master();
      await old.kill();
      await group.failoverFrom(old);
      await Promise.all([callers.more(201, 50, failoverMs), others.more(201, 50, failoverMs)]);
      await old.startAgain();
      await until('it follows the new master', async () => (await roleOf(old)) === 'slave', failoverMs);
      await Promise.all([callers.stop(), others.stop()]);

      await expectStored(database, callers.accepted);
      await reportFailover('killed master, REDIS_ACKS=1', database, callers);
      await reportFailover('killed master, REDIS_ACKS=0', database, others);
      await group.whole();
    });

    it('replaces a frozen master, which acknowledges nothing to REDIS_ACKS once it wakes', async () => {
      const settings = { ...group.settings, DATABASE_URL: database, JOB_LOCK_MS: '1000' };
      const old = await group.master();
      await using ingest = await startIngest({ ...settings, REDIS_ACKS: '1' });
      // Connected to the old master, as through an address that does not follow the failover.
      await using behind = await startIngest({ REDIS_URL: old.url, REDIS_ACKS: '1' });
      await using without = await startIngest({ REDIS_URL: old.url });
      await using callers = startCallers(ingest);
      await callers.more(201, 50);
      old.signal('SIGSTOP');
      await group.failoverFrom(old);
      await callers.more(201, 50, failoverMs);
      await using toOld = startCallers(behind);
      await using others = startCallers(without);
      old.signal('SIGCONT');
      await until('it follows the new master', async () => (await roleOf(old)) === 'slave', failoverMs);
      for (const each of [toOld, others]) await each.more(503, 1);
      await Promise.all([callers.stop(), toOld.stop(), others.stop()]);

      expect(toOld.accepted).to.deep.equal([]);
      // An earlier worker could store what the old master took.
      await using worker = await startWorker(settings);
      expect(worker).to.not.equal(undefined);
      await expectStored(database, callers.accepted, failoverMs);
      await reportFailover('frozen master, REDIS_ACKS=1', database, callers);
      await reportFailover('awake old master, REDIS_ACKS=1', database, toOld);
      await reportFailover('awake old master, REDIS_ACKS=0', database, others);
    });
  });
});
