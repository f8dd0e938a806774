import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { enqueueExecutions } from '../../../internal/controller/notify/enqueue-executions.ts';
import { macOfAct } from '../../../internal/store/acts/act-mac.ts';
import { ConsoleLinks } from '../../../internal/controller/notify/links.ts';
import { alertsToTell } from '../../../internal/controller/notify/told-alerts.ts';
import { together } from '../../../internal/store/apart.ts';
import type { MuteWindow } from '../../../internal/store/tables/acts-table.ts';
import { declare, tickAt } from '../../support/expectations.ts';
import { at, automationId, nightly, storeEvent, told, when } from '../../support/one-day.ts';
import { declareChannel } from '../../support/notify/expectations.ts';
import { eachDatabase } from '../../support/store.ts';

const other = '0190a0b0-0000-7000-8000-000000000002';
const missing = 'missing 2026-11-25T02:30:00.000Z';

describe('a mute', () => {
  const database = eachDatabase();
  beforeEach(() => declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') }));

  interface Muted {
    organization?: string;
    /** Null for the whole organization. */
    automation?: string | null;
    from?: string;
    until?: string;
    window?: MuteWindow;
  }

  /** Mutes, and resolves with the id of the act. */
  const mute = async ({ organization = 'acme', automation = automationId, from = '02:00', until, window }: Muted) => {
    const id = randomUUID();
    await database.db
      .insertInto('acts')
      .values({
        organization,
        id,
        kind: 'mute',
        automation_id: automation,
        note: 'the host moves',
        made_by: 'Olga',
        made_at: new Date(at(from)),
        until_at: until === undefined ? null : new Date(at(until)),
        details: JSON.stringify({ window }),
      })
      .execute();
    return id;
  };
  const tick = async (watermark: string) => told((await tickAt(database.db, when(watermark))).transitions);
  /** What an Alertmanager is told. */
  const firing = async () => (await alertsToTell(database.db, 'alertmanager')).map(({ kind }) => kind);
  const verdicts = async () => {
    const rows = await database.db.selectFrom('automations').select('verdict').execute();
    return rows.flatMap(({ verdict }) => (verdict as { kind: string }[]).map(({ kind }) => kind));
  };

  it('keeps back an alert, which is told once when the mute ends and it still holds', async () => {
    await mute({ until: '03:00' });
    expect(await tick('02:40')).to.deep.equal([]);
    expect(await verdicts()).to.deep.equal(['missing']);
    expect(await firing()).to.deep.equal([]);
    expect(await tick('02:59')).to.deep.equal([]);
    expect(await tick('03:00')).to.deep.equal([`opened ${missing}`]);
    expect(await firing()).to.deep.equal(['missing']);
    expect(await tick('03:01')).to.deep.equal([]);
    await storeEvent(database.db, '03:02', 'START');
    expect(await tick('03:03')).to.include(`resolved ${missing}`);
  });

  it('tells nobody of an alert that was over before the mute', async () => {
    await mute({ until: '03:00' });
    await tick('02:40');
    await storeEvent(database.db, '02:45', 'START');
    await storeEvent(database.db, '02:46', 'END');
    expect(await tick('02:50')).to.deep.equal([]);
    expect(await tick('03:00')).to.deep.equal([]);
    const rows = database.db.selectFrom('alerts').select(['kind', 'kept_back']).orderBy('kind').execute();
    expect(await rows).to.deep.equal([
      { kind: 'late', kept_back: null },
      { kind: 'missing', kept_back: null },
    ]);
  });

  it('tells nobody of an alert that began and ended within it while the watermark stood still', async () => {
    await tick('02:20');
    await mute({ until: '03:00' });
    await storeEvent(database.db, '02:45', 'START');
    await storeEvent(database.db, '02:46', 'END');
    expect(await tick('03:10')).to.deep.equal([]);
  });

  it('keeps back the end of an alert that was told before, until the mute is over', async () => {
    expect(await tick('02:40')).to.deep.equal([`opened ${missing}`]);
    await mute({ from: '02:50', until: '03:10' });
    await storeEvent(database.db, '02:55', 'START');
    await storeEvent(database.db, '02:56', 'END');
    expect(await tick('03:00')).to.deep.equal([]);
    expect(await firing()).to.deep.equal([]);
    expect(await tick('03:10')).to.deep.equal([`resolved ${missing}`]);
    expect(await tick('03:11')).to.deep.equal([]);
  });

  it('holds from the moment it is made, although the record is complete only up to a little earlier', async () => {
    await mute({ from: '02:40:05', until: '03:00' });
    expect(await tick('02:40')).to.deep.equal([]);
    expect(await tick('03:00')).to.deep.equal([`opened ${missing}`]);
  });

  it('of an automation mutes no other one, and that of an organization no other organization', async () => {
    await declare(
      database.db,
      { automationId: other, expect: nightly, declaredAt: at('00:00') },
      { automationId, organization: 'globex', expect: nightly, declaredAt: at('00:00') },
    );
    await mute({ until: '03:00' });
    await mute({ organization: 'globex', automation: null, until: '03:10' });
    const { transitions } = await tickAt(database.db, when('02:40'));
    expect(transitions.map(({ alert }) => `${alert.organization} ${alert.automationId}`)).to.deep.equal([
      `acme ${other}`,
    ]);
    expect(await tick('03:00')).to.have.length(1);
    expect(await tick('03:10')).to.have.length(1);
  });

  it('repeats as a maintenance window, in its time zone', async () => {
    await mute({ from: '00:00', window: { schedule: '20 3 * * *', timeZone: 'Europe/Madrid', duration: '40m' } });
    expect(await tick('02:19')).to.deep.equal([]);
    expect(await tick('02:40')).to.deep.equal([]);
    expect(await tick('02:59')).to.deep.equal([]);
    expect(await tick('03:00')).to.deep.equal([`opened ${missing}`]);
  });

  it('ends early: what still holds is told by the next tick', async () => {
    const id = await mute({ until: '23:00' });
    expect(await tick('02:40')).to.deep.equal([]);
    const end = {
      organization: 'acme',
      id: randomUUID(),
      kind: 'unmute',
      about: id,
      note: '',
      made_by: 'Olga',
    } as const;
    await database.db.insertInto('acts').values(end).execute();
    expect(await tick('02:41')).to.deep.equal([`opened ${missing}`]);
  });

  it('with a schedule that no release can read mutes nothing and stops no tick', async () => {
    await mute({ from: '00:00', window: { schedule: 'whenever', timeZone: 'UTC', duration: '1h' } });
    expect(await tick('02:40')).to.deep.equal([`opened ${missing}`]);
  });

  it('counts with a log only if a console wrote it', async () => {
    const { db } = database;
    const actKeys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const alerts = async (at: string) => told((await tickAt(db, when(at), { actKeys })).transitions);
    await mute({ until: '03:00' });
    const row = await db.selectFrom('acts').selectAll().executeTakeFirstOrThrow();
    // The key of before: both count while a key is replaced.
    await db
      .updateTable('acts')
      .set({ mac: macOfAct(Buffer.alloc(32, 2), row) })
      .execute();
    expect(await alerts('02:40')).to.deep.equal([]);
    await db.updateTable('acts').set({ mac: null }).execute();
    expect(await alerts('02:41')).to.deep.equal([`opened ${missing}`]);
  });

  it('lets no channel hear of the executions within it', async () => {
    const { db } = database;
    await declareChannel(db, { url: 'https://hooks.example/', name: 'all', kinds: ['execution.started'] });
    const enqueue = (watermark: string) =>
      db
        .transaction()
        .execute((trx) =>
          enqueueExecutions(
            trx,
            { watermark: new Date(at(watermark)), held: undefined },
            new ConsoleLinks(undefined),
            together,
          ),
        );
    await enqueue('01:00');
    await mute({ until: '03:00' });
    for (const [time, executionId] of [
      ['01:30', 'before'],
      ['02:30', 'within'],
      ['03:30', 'after'],
    ] as const) {
      await storeEvent(db, time, 'START', { executionId });
    }
    await enqueue('04:00');
    const rows = await db.selectFrom('deliveries').select('event').orderBy('sequence').execute();
    expect(
      rows.map(({ event }) => (event['data'] as { execution: { execution_id: string } }).execution.execution_id),
    ).to.deep.equal(['before', 'after']);
  });
});
