import { expect } from 'chai';
import type { Transition } from '../../../internal/expectation/transition.ts';
import { Outbox } from '../../../internal/controller/notify/outbox.ts';
import type { Tables } from '../../../internal/store/database.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import type { Transaction } from '../../../internal/store/sql.ts';
import { anEvent } from '../../support/events.ts';
import { declare, emptyQueue, tickAt } from '../../support/expectations.ts';
import { declareChannel } from '../../support/notify/expectations.ts';
import { at, automationId, nightly, when } from '../../support/one-day.ts';
import { eachDatabase } from '../../support/store.ts';

const other = '0190a0b0-0000-7000-8000-000000000002';

describe('a tick of several organizations', () => {
  const database = eachDatabase();

  it('evaluates the first automations of each organization, and the rest with the next ticks', async () => {
    const many = Array.from(
      { length: 450 },
      (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    );
    const declaredAt = at('00:00');
    await declare(
      database.db,
      ...many.map((id) => ({ organization: 'a-hostile', automationId: id, expect: nightly, declaredAt })),
      { organization: 'quiet', automationId, expect: nightly, declaredAt },
    );
    const first = await tickAt(database.db, when('02:40'), { turnsMs: 0 });
    expect(first.report?.evaluated).to.equal(201);
    expect(first.transitions.map(({ alert }) => alert.organization)).to.include('quiet');
    const second = await tickAt(database.db, when('02:41'), { turnsMs: 0 });
    const third = await tickAt(database.db, when('02:42'), { turnsMs: 0 });
    expect([second.report?.evaluated, third.report?.evaluated]).to.deep.equal([200, 50]);
    expect(await database.db.selectFrom('alerts').select('id').execute()).to.have.length(451);
  });

  it('notices the failure of an organization beside 10,000 failing automations of another', async () => {
    const { db } = database;
    const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    await tickAt(db, when('02:40'));
    const failure = { kind: 'ERROR', createdAt: at('02:40:30') } as const;
    const hostile = Array.from({ length: 10_000 }, (_, index) =>
      anEvent({ ...failure, organization: 'a-hostile', automationId: idOf(index) }),
    );
    for (let from = 0; from < hostile.length; from += 1_000) await recordEvents(db, hostile.slice(from, from + 1_000));
    await recordEvents(db, [anEvent({ ...failure, organization: 'quiet', automationId })]);
    const { transitions } = await tickAt(db, when('02:41'), { turnsMs: 0 });
    expect(transitions.map(({ alert }) => alert.organization)).to.include('quiet');
  });

  it('merges touching gaps into one row, and reads those that an evaluation can need', async () => {
    const declaredAt = at('00:00');
    await declare(database.db, { automationId, expect: nightly, declaredAt });
    const { db } = database;
    const old = { from_at: new Date(at('00:00') - 90 * 86_400_000), until_at: new Date(at('00:00') - 89 * 86_400_000) };
    await db
      .insertInto('record_gaps')
      .values({ ...old, reason: 'an outage' })
      .execute();
    // A pod with a wrong clock notes 10 s every 5 s, and another one the same at other times.
    let from = at('01:00');
    const notes = (count: number) =>
      Array.from({ length: count }, () => ({ from: (from += 5_000) - 5_000, until: from + 5_000 }));
    await tickAt(db, when('01:05'), { queue: { ...emptyQueue(when('01:05')), gaps: notes(60) } });
    const gaps = notes(60);
    const repeated = {
      ...emptyQueue(when('01:11')),
      gaps: [...gaps, ...gaps.map((gap) => ({ from: gap.from + 2_000, until: gap.until - 1_000 }))],
    };
    await tickAt(db, when('01:11'), { queue: repeated });
    await tickAt(db, when('01:12'), { queue: { ...repeated, now: when('01:12'), admittingAt: when('01:12') } });
    const rows = await db.selectFrom('record_gaps').select(['from_at', 'until_at']).orderBy('from_at').execute();
    expect(rows).to.deep.equal([old, { from_at: new Date(at('01:00')), until_at: new Date(from + 5_000) }]);

    const read: Date[] = [];
    const watching = db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        read.push(...result.rows.flatMap(({ until_at }) => (until_at instanceof Date ? until_at : [])));
        return result;
      },
    });
    await tickAt(watching, when('02:40'));
    expect(read).to.deep.equal([new Date(from + 5_000)]);
  });

  it('notifies those of the end of an alert that were notified of its start, whatever is declared by then', async () => {
    const { db } = database;
    const outbox = new Outbox(undefined);
    const listener = {
      recordTransitions: (trx: Transaction<Tables>, part: readonly Transition[]) => outbox.enqueueAlerts(trx, part),
      recordTick: async () => {},
    };
    const ids = [automationId, other, '0190a0b0-0000-7000-8000-000000000003'];
    for (const id of ids) await declare(db, { automationId: id, expect: nightly, declaredAt: at('00:00') });
    const channel = { url: 'https://acme.example', name: 'of-billing', filter: { owners: ['billing'] } };
    await declareChannel(db, channel);
    await tickAt(db, when('02:40'), { listeners: [listener] });
    await db.deleteFrom('automations').where('automation_id', '=', automationId).execute();
    await db.updateTable('automations').set({ owner: 'sales' }).where('automation_id', '=', other).execute();
    await db
      .updateTable('channels')
      .set({ filter: JSON.stringify({ owners: ['nobody'] }) })
      .execute();
    await declareChannel(db, { url: 'https://acme.example', name: 'later' });
    await recordEvents(
      db,
      ids.slice(1).map((id) => anEvent({ automationId: id, createdAt: at('02:41'), kind: 'START' })),
    );
    await tickAt(db, when('02:42'), { listeners: [listener] });
    const deliveries = await db.selectFrom('deliveries').selectAll().orderBy('sequence').execute();
    const sent = deliveries
      .filter(({ event }) => event['type'] !== 'dev.runledger.automation.late')
      .map(({ automation_id, channel_name, event }) => [
        channel_name,
        automation_id,
        event['type'],
        Object(event['data']).name as unknown,
      ]);
    const each = (type: string) => ids.map((id) => ['of-billing', id, `dev.runledger.automation.${type}`, id]);
    expect(sent).to.have.deep.members([...each('missing'), ...each('resolved')]);
  });
});
