import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { declare, emptyQueue, tickAt } from '../../support/expectations.ts';
import { alertsOf, at, automationId, nightly, storeEvent, told, when } from '../../support/one-day.ts';
import { eachDatabase } from '../../support/store.ts';

describe('a tick after edits, with overlapping and unknown runs', () => {
  const database = eachDatabase();

  const event = (time: string, kind: AcceptedEvent['kind'], executionId = 'a', automation = automationId) =>
    storeEvent(database.db, time, kind, { executionId, automation });

  const alerts = () => alertsOf(database.db);

  it('keeps what still holds through edits, and times each rule from its own declaration', async () => {
    const failing = { failures: { consecutive: 1 } };
    await declare(database.db, { automationId, expect: failing, declaredAt: at('00:00') });
    await event('01:00', 'START');
    await event('01:01', 'ERROR');
    expect(told((await tickAt(database.db, when('01:02'))).transitions)).to.deep.equal(['opened failing failing']);
    await declare(database.db, { automationId, expect: { ...failing, maxDuration: '1h' }, declaredAt: at('01:10') });
    await event('01:20', 'START', 'b');
    expect(told((await tickAt(database.db, when('01:30'))).transitions)).to.deep.equal([]);
    await declare(database.db, { automationId, expect: { ...failing, maxDuration: '60m' }, declaredAt: at('01:40') });
    expect(told((await tickAt(database.db, when('02:20'))).transitions)).to.deep.equal(['opened overrunning b']);
    await declare(database.db, {
      automationId,
      expect: { failures: { rate: 100, of: 1 }, maxDuration: '30m' },
      declaredAt: at('02:30'),
    });
    expect(told((await tickAt(database.db, when('02:31'))).transitions)).to.deep.equal([]);
    const fewer = { maxDuration: '2h', failures: { never: true } } as const;
    await declare(database.db, { automationId, expect: fewer, declaredAt: at('02:40') });
    expect(told((await tickAt(database.db, when('02:41'))).transitions).toSorted()).to.deep.equal([
      'resolved failing failing',
      'resolved overrunning b',
    ]);
  });

  it('keeps a missing start through an edit of its interval, of its grace and of its text', async () => {
    await declare(database.db, { automationId, expect: { every: '2h', grace: '10m' }, declaredAt: at('00:00') });
    expect(told((await tickAt(database.db, when('02:10'))).transitions)).to.have.length(1);
    for (const [index, edit] of [
      { every: '120m', grace: '5m' },
      { every: '1h', grace: '5m' },
      { every: '90m', grace: '1m' },
    ].entries()) {
      await declare(database.db, { automationId, expect: edit, declaredAt: at('02:20') + index * 60_000 });
      expect(told((await tickAt(database.db, when('02:20') + index * 60_000)).transitions)).to.deep.equal([]);
    }
    await event('02:30', 'START');
    expect(told((await tickAt(database.db, when('02:31'))).transitions)).to.include.members([
      'resolved missing 2026-11-25T02:00:00.000Z',
    ]);
  });

  it('counts failures in the order of ends, whatever starts and never ends in between', async () => {
    await declare(database.db, { automationId, expect: { failures: { consecutive: 2 } }, declaredAt: at('00:00') });
    await event('01:00', 'START', 'long');
    await event('01:10', 'START', 'a');
    await event('01:11', 'ERROR', 'a');
    await event('01:11', 'END', 'a');
    await tickAt(database.db, when('01:12'));
    for (let index = 0; index < 6; index += 1) await event('01:20', 'START', `unfinished ${index}`);
    await tickAt(database.db, when('02:30'));
    await event('02:40', 'ERROR', 'long');
    expect(told((await tickAt(database.db, when('02:41'))).transitions)).to.deep.equal(['opened failing failing']);
    await tickAt(database.db, when('04:41'));
    await event('04:50', 'START', 'b');
    await event('04:51', 'END', 'b');
    await tickAt(database.db, when('06:00'));
    const [row] = await alerts();
    expect(row?.resolved_reason).to.equal('The failures were below the limit again at 25 November 2026, 04:51 (UTC).');
  });

  it('raises one alert for a start that stays unknown for more than two periods, with what is recorded', async () => {
    const days = (count: number) => count * 86_400_000;
    await declare(database.db, { automationId, expect: { every: '1d', grace: '10m' }, declaredAt: at('00:00') });
    await event('01:00', 'START');
    await event('01:05', 'END');
    const gaps = [1, 2, 3, 4].map((day) => ({
      from: at('00:30') + days(day - 1),
      until: at('00:30') + days(day - 1) + 30_000,
    }));
    const later = (day: number, time: string) => {
      const queue = { ...emptyQueue(when(time) + days(day)), gaps: gaps.slice(0, day + 1) };
      return tickAt(database.db, when(time) + days(day), { queue });
    };
    for (const day of [0, 1, 2]) expect(told((await later(day, '02:00')).transitions)).to.deep.equal([]);
    const { transitions } = await later(3, '01:10');
    expect(transitions.map(({ change, alert }) => [change, alert.kind, alert.reason])).to.deep.equal([
      [
        'opened',
        'unknown',
        'It is unknown whether a run started at the expected time, 26 November 2026, 01:00 (UTC): no run is recorded since 25 November 2026, 01:00 (UTC), and Runledger may lack events in 3 gaps of about 30 s, the latest from 28 November 2026, 00:30:00 (UTC) to 28 November 2026, 00:30:30 (UTC).',
      ],
    ]);
    expect(told((await later(3, '04:00')).transitions)).to.deep.equal([]);
  });

  it('finds no start missing that was unknown long ago, when another rule has changed since', async () => {
    const days = (count: number) => count * 86_400_000;
    const { failures: _, ...before } = nightly;
    await declare(database.db, { automationId, expect: before, declaredAt: at('00:00') });
    const lastDay = 5;
    for (let day = 0; day < lastDay; day += 1) {
      const now = when('02:45') + days(day);
      const gaps = [{ from: at('02:31') + days(day), until: at('02:32') + days(day) }];
      await tickAt(database.db, now, { queue: { ...emptyQueue(now), gaps } });
    }
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') + days(lastDay) });
    const { transitions } = await tickAt(database.db, when('01:00') + days(lastDay));
    expect(told(transitions)).to.deep.equal([]);
    expect((await alerts()).map(({ kind, resolved_at }) => [kind, resolved_at])).to.deep.equal([['unknown', null]]);
  });

  it('reevaluates an unknown start as soon as its events arrive', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('02:00'));
    const gaps = [{ from: at('02:31'), until: at('02:32') }];
    await tickAt(database.db, when('02:40'), { queue: { ...emptyQueue(when('02:40')), gaps } });
    const verdict = async () =>
      (await database.db.selectFrom('automations').select('verdict').executeTakeFirstOrThrow()).verdict;
    expect(await verdict()).to.have.nested.property('[0].kind', 'unknown');
    await event('02:39', 'START');
    expect(told((await tickAt(database.db, when('02:41'))).transitions)).to.deep.equal([]);
    expect(await verdict()).to.deep.equal([]);
  });

  /** Events of one run that were sent long after they occurred. */
  const sentLater = (
    accepted: string,
    executionId: string,
    events: readonly (readonly [AcceptedEvent['kind'], string])[],
  ) =>
    recordEvents(
      database.db,
      events.map(([kind, time]) =>
        anEvent({ automationId, executionId, kind, createdAt: at(accepted), occurredAt: at(time) }),
      ),
    );

  it('tells once of a failure and of a long run that arrive after they are over', async () => {
    await declare(database.db, {
      automationId,
      expect: { failures: { consecutive: 1 }, maxDuration: '30m' },
      declaredAt: at('00:00'),
    });
    await tickAt(database.db, when('06:20'));
    await sentLater('06:21', 'a', [
      ['START', '02:30'],
      ['ERROR', '02:40'],
      ['END', '02:40'],
    ]);
    await sentLater('06:21', 'b', [
      ['START', '03:30'],
      ['END', '04:10'],
    ]);
    const { transitions } = await tickAt(database.db, when('06:22'));
    expect(told(transitions)).to.deep.equal(['opened failing failing', 'opened overrunning b']);
    for (const time of ['06:23', '06:32', '07:30'])
      expect(told((await tickAt(database.db, when(time))).transitions)).to.deep.equal([]);
    const found = (await alerts()).map(({ kind, opened_at, resolved_at }) => [kind, opened_at, resolved_at]);
    expect(found).to.deep.equal([
      ['failing', new Date(at('02:40')), new Date(at('04:10'))],
      ['overrunning', new Date(at('04:00')), new Date(at('04:10'))],
    ]);
  });

  it('does not tell again of a time of failures when more of its events arrive', async () => {
    await declare(database.db, { automationId, expect: { failures: { consecutive: 1 } }, declaredAt: at('00:00') });
    await event('02:30', 'START', 'a');
    await event('02:40', 'ERROR', 'a');
    expect(told((await tickAt(database.db, when('02:41'))).transitions)).to.deep.equal(['opened failing failing']);
    await event('03:00', 'START', 'b');
    await event('03:10', 'END', 'b');
    expect(told((await tickAt(database.db, when('03:11'))).transitions)).to.deep.equal(['resolved failing failing']);
    await tickAt(database.db, when('06:00'));
    await event('06:01', 'END', 'a');
    await sentLater('06:01', 'before', [
      ['START', '02:20'],
      ['ERROR', '02:35'],
      ['END', '02:35'],
    ]);
    await sentLater('06:01', 'after', [
      ['START', '02:45'],
      ['ERROR', '02:55'],
      ['END', '02:55'],
    ]);
    for (const time of ['06:02', '06:03'])
      expect(told((await tickAt(database.db, when(time))).transitions)).to.deep.equal([]);
    expect(await alerts()).to.have.length(1);
  });

  it('tells of the newest ten failures of a sender that was offline for long', async () => {
    await declare(database.db, { automationId, expect: { failures: { consecutive: 1 } }, declaredAt: at('00:00') });
    await tickAt(database.db, when('20:00'));
    for (let hour = 1; hour <= 12; hour += 1) {
      const time = String(hour).padStart(2, '0');
      await sentLater('20:01', `failed ${time}`, [
        ['START', `${time}:00`],
        ['ERROR', `${time}:10`],
        ['END', `${time}:10`],
      ]);
      await sentLater('20:01', `good ${time}`, [
        ['START', `${time}:20`],
        ['END', `${time}:30`],
      ]);
    }
    const { transitions } = await tickAt(database.db, when('20:02'));
    expect(transitions.map(({ alert }) => new Date(alert.openedAt).getUTCHours())).to.deep.equal([
      3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    for (const time of ['20:03', '21:30'])
      expect(told((await tickAt(database.db, when(time))).transitions)).to.deep.equal([]);
  });
});
