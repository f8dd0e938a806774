import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from '../../../internal/store/sql.ts';
import { Cleaner } from '../../../internal/controller/verdicts/cleaner.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { compactAll } from '../../support/compacted.ts';
import { anEvent } from '../../support/events.ts';
import { declare, storeAlert, transition } from '../../support/notify/expectations.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { eachDatabase } from '../../support/store.ts';

const dayMs = 86_400_000;
const automationId = '0190a0b0-0000-7000-8000-000000000001';
const ago = (days: number): Date => new Date(Date.now() - days * dayMs);

describe('a cleaner', () => {
  const database = eachDatabase();

  const cleanerOf = (retentionDays: number) => {
    const logs = recordingLogger();
    return { cleaner: new Cleaner({ db: database.db, retentionDays, logger: logs.logger }), logs };
  };

  it('deletes what owners did a number of days ago, but no mute that still holds, and no end before its mute', async () => {
    const act = { organization: 'acme', made_by: 'Olga', details: '{}', made_at: ago(31), recorded_at: ago(31) };
    const [forever, ended] = [randomUUID(), randomUUID()];
    await database.db
      .insertInto('acts')
      .values([
        { ...act, id: randomUUID(), kind: 'note', note: 'old' },
        { ...act, id: randomUUID(), kind: 'note', note: 'new', made_at: ago(29) },
        { ...act, id: randomUUID(), kind: 'note', note: 'waits', recorded_at: null },
        { ...act, id: forever, kind: 'mute', note: 'forever' },
        { ...act, id: ended, kind: 'mute', note: 'ended' },
        { ...act, id: randomUUID(), kind: 'unmute', about: ended, note: 'end' },
        { ...act, id: randomUUID(), kind: 'mute', note: 'over', until_at: ago(30) },
      ])
      .execute();
    const left = async () =>
      (await database.db.selectFrom('acts').select('note').orderBy('note').execute()).map(({ note }) => note);
    await cleanerOf(30).cleaner.runOnce();
    expect(await left()).to.deep.equal(['end', 'forever', 'new', 'waits']);
    await cleanerOf(30).cleaner.runOnce();
    expect(await left()).to.deep.equal(['forever', 'new', 'waits']);
  });

  it('deletes the name of an automation without a declaration with its last run, also if that is compacted', async () => {
    const { db } = database;
    await declare(db, { automationId });
    const undeclared = { declared: false, display_name: 'Nightly', declared_at: ago(2) };
    await db.updateTable('automations').set(undeclared).execute();
    const runs = [1, 2, 3, 4].map((at) =>
      anEvent({ automationId, executionId: `run ${at}`, kind: 'END', createdAt: at }),
    );
    await recordEvents(db, runs);
    await compactAll(db);
    await db.deleteFrom('executions').execute();
    const left = () => db.selectFrom('automations').select('display_name').execute();
    await cleanerOf(30).cleaner.runOnce();
    expect(await left()).to.have.lengthOf(1);
    await db.deleteFrom('compacted_executions').execute();
    await cleanerOf(30).cleaner.runOnce();
    expect(await left()).to.have.lengthOf(0);
  });

  it('deletes alerts and deliveries a number of days after their end, and none that is still open', async () => {
    for (const [occurrence, resolvedAt] of [
      ['old', ago(31)],
      ['new', ago(29)],
      ['open', undefined],
    ] as const) {
      const change = resolvedAt === undefined ? 'opened' : 'resolved';
      const openedAt = ago(40).getTime();
      const alert = transition(change, { occurrence, openedAt, resolvedAt: resolvedAt?.getTime() });
      await storeAlert(database.db, alert);
    }
    const delivery = { organization: 'acme', automation_id: automationId, channel_namespace: 'acme', event: '{}' };
    const ends = [
      { delivered_at: ago(31) },
      { given_up_at: ago(31) },
      { delivered_at: ago(29) },
      { given_up_at: ago(29) },
      {},
    ];
    for (const end of ends) {
      const channel_name = Object.keys(end)[0] ?? 'waits';
      const row = { ...delivery, id: randomUUID(), channel_name, created_at: ago(40), ...end };
      await database.db.insertInto('deliveries').values(row).execute();
    }
    const left = async (): Promise<string[]> => {
      const alerts = await database.db.selectFrom('alerts').select('occurrence').execute();
      const deliveries = await database.db.selectFrom('deliveries').select('channel_name').execute();
      return [...alerts.map(({ occurrence }) => occurrence), ...deliveries.map((row) => row.channel_name)].toSorted();
    };
    const all = await left();
    await cleanerOf(0).cleaner.runOnce();
    expect(await left()).to.deep.equal(all);
    // A controller whose clock is a year ahead deletes no more than others.
    const trueClock = Date.now;
    Date.now = () => trueClock() + 365 * dayMs;
    await cleanerOf(30)
      .cleaner.runOnce()
      .finally(() => (Date.now = trueClock));
    expect(await left()).to.deep.equal(['delivered_at', 'given_up_at', 'new', 'open', 'waits']);
  });

  it('deletes any number in slices, finds them by an index, and waits for no row that is locked', async () => {
    const { db } = database;
    await sql`
      insert into deliveries (id, organization, automation_id, channel_namespace, channel_name, event, delivered_at)
      select gen_random_uuid(), 'acme', ${automationId}::uuid, 'acme', 'hook', '{}', ${ago(31)}
      from generate_series(1, 2500)
    `.execute(db);
    await sql`
      insert into deliveries (id, organization, automation_id, channel_namespace, channel_name, event, delivered_at)
      select gen_random_uuid(), 'acme', ${automationId}::uuid, 'acme', 'hook', '{}', now()
      from generate_series(1, 20000)
    `.execute(db);
    await sql`vacuum analyze deliveries`.execute(db);
    const scans = async (): Promise<number> => {
      const { rows } = await sql<{ scans: string }>`
        select pg_stat_force_next_flush(), seq_scan as scans from pg_stat_user_tables where relname = 'deliveries'
      `.execute(db);
      return Number(rows[0]?.scans);
    };
    const before = await scans();
    const { cleaner } = cleanerOf(30);
    await db.transaction().execute(async (trx) => {
      await sql`select from deliveries where delivered_at < ${ago(30)} limit 1 for update`.execute(trx);
      await cleaner.runOnce();
    });
    const { rows } = await sql<{ count: string }>`
      select count(*) from deliveries where delivered_at < ${ago(30)}
    `.execute(db);
    expect(Number(rows[0]?.count)).to.equal(1);
    // The two statements of this test read the table, the cleaner does not.
    expect((await scans()) - before).to.be.at.most(2);
  });

  it('logs once that it could not delete, and does not reject', async () => {
    await sql`alter table deliveries rename to elsewhere`.execute(database.db);
    const { cleaner, logs } = cleanerOf(30);
    await cleaner.runOnce();
    expect(logs.records.map(({ message }) => message)).to.deep.equal([
      'old alerts and deliveries cannot be deleted, retrying in an hour',
    ]);
  });
});
