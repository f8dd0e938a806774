import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { Transition } from '../../../internal/expectation/transition.ts';
import { syncSilent } from '../../../internal/controller/declarations/sync-tables.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { declare, tickAt } from '../../support/expectations.ts';
import { alertsOf, at, automationId, storeEvent, told, when } from '../../support/one-day.ts';
import { eachDatabase } from '../../support/store.ts';

const other = '0190a0b0-0000-7000-8000-000000000002';

describe('a tick with lost, scheduled or reused runs', () => {
  const database = eachDatabase();

  const event = (time: string, kind: AcceptedEvent['kind'], executionId = 'a', automation = automationId) =>
    storeEvent(database.db, time, kind, { executionId, automation });

  const alerts = () => alertsOf(database.db);

  it('marks a silent run as lost, raises one alert, and takes it back when an event comes', async () => {
    const running = () => database.db.selectFrom('running_executions').select(['execution_id', 'lost_at']).execute();
    await declare(database.db, { automationId, expect: { lostAfter: '1h' }, declaredAt: at('00:00') });
    await event('01:00', 'START');
    await event('01:30', 'EVENT');
    expect(told((await tickAt(database.db, when('02:29'))).transitions)).to.deep.equal([]);
    const { transitions } = await tickAt(database.db, when('02:30'));
    expect(transitions.map(({ change, alert }) => `${change} ${alert.kind}: ${alert.reason}`)).to.deep.equal([
      'opened lost: The run a, which started at 25 November 2026, 01:00 (UTC), has sent no END, and no event since 25 November 2026, 01:30 (UTC): it counts as lost.',
    ]);
    expect(await running()).to.deep.equal([{ execution_id: 'a', lost_at: new Date(at('02:30')) }]);
    expect(told((await tickAt(database.db, when('04:00'))).transitions)).to.deep.equal([]);
    await event('04:10', 'EVENT');
    expect(await running()).to.deep.equal([{ execution_id: 'a', lost_at: null }]);
    expect(told((await tickAt(database.db, when('04:11'))).transitions)).to.deep.equal(['resolved lost a']);
    expect(told((await tickAt(database.db, when('05:10'))).transitions)).to.deep.equal(['opened lost a']);
    await event('05:30', 'END');
    expect(told((await tickAt(database.db, when('05:31'))).transitions)).to.deep.equal(['resolved lost a']);
    expect((await alerts()).map(({ resolved_reason }) => resolved_reason)).to.deep.equal([
      'The run a sent an event again at 25 November 2026, 04:10 (UTC).',
      'The run a ended at 25 November 2026, 05:30 (UTC).',
    ]);
    expect(await running()).to.deep.equal([]);
  });

  it('raises the alert about a silent run on time if lostAfter is shorter than the pause between evaluations', async () => {
    await declare(database.db, { automationId, expect: { lostAfter: '2m' }, declaredAt: at('00:00') });
    await tickAt(database.db, when('01:00'));
    await event('01:01', 'START');
    expect(told((await tickAt(database.db, when('01:02'))).transitions)).to.deep.equal([]);
    expect(told((await tickAt(database.db, when('01:03'))).transitions)).to.deep.equal(['opened lost a']);
    expect((await alerts()).map(({ opened_at }) => opened_at)).to.deep.equal([new Date(at('01:03'))]);
    await event('01:04', 'END');
  });

  it('counts a captured Job for the time of its schedule, and one made by hand for none', async () => {
    await declare(database.db, { automationId, expect: { schedule: '0 * * * *' }, declaredAt: at('00:30') });
    const schedule = (executionId: string, time: string | null) =>
      database.db
        .insertInto('scheduled_runs')
        .values({
          organization: 'acme',
          automation_id: automationId,
          execution_id: executionId,
          scheduled_at: time === null ? null : new Date(at(time)),
          recorded_at: new Date(at('01:00')),
        })
        .execute();
    await schedule('a', '01:00');
    await event('01:01', 'START', 'a');
    expect(told((await tickAt(database.db, when('01:30'))).transitions)).to.deep.equal([]);
    for (const name of ['hand 1', 'hand 2', 'hand 3']) {
      await schedule(name, null);
      await event('02:00', 'START', name);
    }
    expect(told((await tickAt(database.db, when('02:10'))).transitions)).to.deep.equal([
      'opened missing 2026-11-25T02:00:00.000Z',
    ]);
    await schedule('b', '02:00');
    await event('02:58', 'START', 'b');
    expect(told((await tickAt(database.db, when('02:59'))).transitions)).to.deep.equal([
      'resolved missing 2026-11-25T02:00:00.000Z',
      'opened late 2026-11-25T02:00:00.000Z',
    ]);
    expect(told((await tickAt(database.db, when('03:10'))).transitions)).to.deep.equal([
      'opened missing 2026-11-25T03:00:00.000Z',
    ]);
  });

  it('raises alerts for every failure and every lost run of undeclared automations', async () => {
    const days = (count: number) => count * 86_400_000;
    await tickAt(database.db, when('01:00'));
    await event('00:10', 'START', 'old');
    await event('01:01', 'START', 'a');
    await event('01:02', 'ERROR', 'a');
    const { transitions } = await tickAt(database.db, when('01:03'));
    expect(told(transitions)).to.deep.equal(['opened failing failing']);
    expect(transitions[0]?.automation).to.include({ namespace: 'undeclared', name: automationId, owner: '' });
    await event('01:10', 'START', 'b');
    await event('01:11', 'END', 'b');
    expect(told((await tickAt(database.db, when('01:12'))).transitions)).to.deep.equal(['resolved failing failing']);
    await tickAt(database.db, when('23:30') + days(1));
    expect(await database.db.selectFrom('automations').select('name').execute()).to.deep.equal([]);
    expect(told((await tickAt(database.db, when('00:09') + days(7))).transitions)).to.deep.equal([]);
    expect(told((await tickAt(database.db, when('00:11') + days(7))).transitions)).to.deep.equal(['opened lost old']);
    await database.db.deleteFrom('running_executions').execute();
  });

  it('raises alerts for failures that a declaration does not mention, unless it or its organization says never', async () => {
    const third = '0190a0b0-0000-7000-8000-000000000003';
    const declaredAt = at('00:00');
    await declare(
      database.db,
      { automationId, expect: { schedule: '30 2 * * *' }, declaredAt },
      { automationId: other, expect: { schedule: '30 2 * * *', failures: { never: true } }, declaredAt },
      { automationId, organization: 'quiet', expect: { lostAfter: '1h' }, declaredAt },
      { automationId: other, organization: 'quiet', expect: { failures: { consecutive: 1 } }, declaredAt },
    );
    await database.db.transaction().execute((trx) => syncSilent(trx, ['quiet']));
    await tickAt(database.db, when('01:00'));
    for (const organization of ['acme', 'quiet']) {
      for (const id of [automationId, other, third]) {
        await recordEvents(
          database.db,
          (['START', 'ERROR', 'END'] as const).map((kind) =>
            anEvent({ organization, automationId: id, kind, executionId: 'a', createdAt: at('01:01') }),
          ),
        );
      }
    }
    const tellsOf = (transitions: readonly Transition[]) =>
      transitions
        .map(({ change, alert }) => `${change} ${alert.organization} ${alert.automationId.slice(-1)}`)
        .toSorted();
    expect(tellsOf((await tickAt(database.db, when('01:02'))).transitions)).to.deep.equal([
      'opened acme 1',
      'opened acme 3',
      'opened quiet 2',
    ]);
    await database.db.transaction().execute((trx) => syncSilent(trx, ['acme']));
    expect(tellsOf((await tickAt(database.db, when('01:03'))).transitions)).to.deep.equal([
      'opened quiet 1',
      'opened quiet 3',
      'resolved acme 1',
      'resolved acme 3',
    ]);
  });

  it('says that an id was used again, where the runs of its schedule seem to be missing', async () => {
    await declare(database.db, { automationId, expect: { schedule: '0 * * * *' }, declaredAt: at('00:30') });
    await event('01:00', 'START');
    await event('02:00', 'START');
    const { transitions } = await tickAt(database.db, when('02:10'));
    expect(transitions.map(({ alert }) => [alert.reason, alert.facts['anomaly']])).to.deep.equal([
      [
        'No run started within 10 min of the expected time, 25 November 2026, 02:00 (UTC): 2 STARTs came with the execution_id a, which is one run (start_repeated).',
        'start_repeated',
      ],
    ]);
  });

  it('says how many starts are missing, in the verdict and in the open alert', async () => {
    await declare(database.db, { automationId, expect: { schedule: '0 * * * *' }, declaredAt: at('00:30') });
    await tickAt(database.db, when('01:10'));
    for (const time of ['02:10', '03:10'])
      expect((await tickAt(database.db, when(time))).transitions).to.deep.equal([]);
    const reason =
      'No run started within 10 min of 3 expected times, the first 25 November 2026, 01:00 (UTC), the last 25 November 2026, 03:00 (UTC).';
    const rows = await database.db.selectFrom('alerts').select('reason').execute();
    expect(rows).to.deep.equal([{ reason }]);
  });
});
