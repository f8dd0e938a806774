import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { Transition } from '../../../internal/expectation/transition.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { declare, emptyQueue, tickAt } from '../../support/expectations.ts';
import { failureOf } from '../../support/failure.ts';
import { alertsOf, at, automationId, nightly, storeEvent, told, when } from '../../support/one-day.ts';
import { eachDatabase, openDatabase } from '../../support/store.ts';

const other = '0190a0b0-0000-7000-8000-000000000002';

describe('a tick', () => {
  const database = eachDatabase();

  const event = (time: string, kind: AcceptedEvent['kind'], executionId = 'a', automation = automationId) =>
    storeEvent(database.db, time, kind, { executionId, automation });

  const alerts = () => alertsOf(database.db);

  it('opens an alert when the watermark passes the grace, once, and resolves it with the run', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    expect(told((await tickAt(database.db, when('02:39'))).transitions)).to.deep.equal([]);
    const opened = await tickAt(database.db, when('02:40'));
    expect(told(opened.transitions)).to.deep.equal(['opened missing 2026-11-25T02:30:00.000Z']);
    expect(opened.transitions[0]?.automation).to.deep.equal({
      namespace: 'acme-automations',
      name: automationId,
      displayName: 'Nightly invoices',
      owner: 'billing',
      tags: [],
      links: [],
      alertLabels: { severity: 'page' },
    });
    expect(told((await tickAt(database.db, when('02:41'))).transitions)).to.deep.equal([]);
    await event('02:42', 'START');
    const resolved = await tickAt(database.db, when('02:43'));
    expect(told(resolved.transitions)).to.deep.equal([
      'resolved missing 2026-11-25T02:30:00.000Z',
      'opened late 2026-11-25T02:30:00.000Z',
    ]);
    expect(await alerts()).to.deep.equal([
      {
        kind: 'missing',
        occurrence: '2026-11-25T02:30:00.000Z',
        opened_at: new Date(at('02:40')),
        resolved_at: new Date(at('02:42')),
        resolved_reason: 'The run a started late, at 25 November 2026, 02:42 (UTC).',
      },
      {
        kind: 'late',
        occurrence: '2026-11-25T02:30:00.000Z',
        opened_at: new Date(at('02:42')),
        resolved_at: new Date(at('02:42')),
        resolved_reason: 'The run a started late, at 25 November 2026, 02:42 (UTC).',
      },
    ]);
  });

  it('writes the verdicts that hold beside the declaration', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('02:40'));
    const row = await database.db
      .selectFrom('automations')
      .select(['verdict', 'evaluated_at'])
      .executeTakeFirstOrThrow();
    expect(row.evaluated_at).to.deep.equal(new Date(at('02:40')));
    expect(row.verdict).to.deep.equal([
      {
        kind: 'missing',
        occurrence: '2026-11-25T02:30:00.000Z',
        reason: 'No run started within 10 min of the expected time, 25 November 2026, 02:30 (UTC).',
        facts: { expected_at: '2026-11-25T02:30:00.000Z', grace_seconds: 600 },
        since: '2026-11-25T02:40:00.000Z',
        told: true,
      },
    ]);
  });

  it('times each of several runs, and raises alerts for failures immediately', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('02:25'));
    for (const executionId of ['a', 'b', 'c']) await event('02:30', 'START', executionId);
    await event('02:50', 'END', 'b');
    expect(told((await tickAt(database.db, when('03:14'))).transitions)).to.deep.equal([]);
    expect(told((await tickAt(database.db, when('03:15'))).transitions).toSorted()).to.deep.equal([
      'opened overrunning a',
      'opened overrunning c',
    ]);
    await event('03:16', 'ERROR', 'a');
    expect(told((await tickAt(database.db, when('03:17'))).transitions)).to.deep.equal(['opened failing failing']);
    await event('03:18', 'END', 'a');
    expect(told((await tickAt(database.db, when('03:19'))).transitions)).to.deep.equal(['resolved overrunning a']);
    await event('03:20', 'END', 'c');
    expect(told((await tickAt(database.db, when('03:21'))).transitions)).to.have.members([
      'resolved overrunning c',
      'resolved failing failing',
    ]);
  });

  it('reports what began and ended while the watermark stood still', async () => {
    await declare(database.db, {
      automationId,
      expect: { ...nightly, schedule: '0 * * * *' },
      declaredAt: at('00:30'),
    });
    await tickAt(database.db, when('00:40'));
    await event('02:00', 'START');
    await event('02:55', 'ERROR');
    await event('02:55', 'END');
    await event('03:00', 'START', 'b');
    await event('03:01', 'END', 'b');
    expect(told((await tickAt(database.db, when('03:05'))).transitions)).to.have.members([
      'opened missing 2026-11-25T01:00:00.000Z',
      'opened overrunning a',
      'opened failing failing',
    ]);
    expect((await alerts()).map(({ kind, resolved_at }) => `${kind} ${resolved_at?.toISOString()}`)).to.deep.equal([
      'missing 2026-11-25T02:00:00.000Z',
      'overrunning 2026-11-25T02:55:00.000Z',
      'failing 2026-11-25T03:01:00.000Z',
    ]);
    expect(told((await tickAt(database.db, when('03:30'))).transitions)).to.deep.equal([]);
  });

  it('opens an alert although a run has a time from a wrong clock, until that time comes', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('02:35'));
    await event('02:45', 'START');
    expect(told((await tickAt(database.db, when('02:40'))).transitions)).to.deep.equal([
      'opened missing 2026-11-25T02:30:00.000Z',
    ]);
    expect(told((await tickAt(database.db, when('02:46'))).transitions)).to.deep.equal([
      'resolved missing 2026-11-25T02:30:00.000Z',
      'opened late 2026-11-25T02:30:00.000Z',
    ]);
  });

  it('opens an alert about a run from a producer with a fast clock once the time of the run comes', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('01:59'));
    const failed = anEvent({ automationId, createdAt: at('02:00'), kind: 'ERROR', occurredAt: at('02:05') });
    await recordEvents(database.db, [failed]);
    for (const time of ['02:00', '02:03']) {
      expect(told((await tickAt(database.db, when(time))).transitions)).to.deep.equal([]);
    }
    expect(told((await tickAt(database.db, when('02:05'))).transitions)).to.deep.equal(['opened failing failing']);
  });

  it('resolves an alert when events that were stored later show that it was wrong', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('02:40'));
    await event('02:35', 'START');
    expect(told((await tickAt(database.db, when('02:45'))).transitions)).to.deep.equal([
      'resolved missing 2026-11-25T02:30:00.000Z',
    ]);
  });

  it('resolves alerts of an automation that is suspended, changed or no longer declared', async () => {
    const third = '0190a0b0-0000-7000-8000-000000000003';
    const all = [automationId, other, third].map((id) => ({
      automationId: id,
      expect: nightly,
      declaredAt: at('00:00'),
    }));
    await declare(database.db, ...all);
    expect((await tickAt(database.db, when('02:40'))).transitions).to.have.length(3);
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('03:00'), suspend: true });
    await declare(database.db, { automationId: other, expect: { schedule: '0 9 * * *' }, declaredAt: at('03:00') });
    await database.db.deleteFrom('automations').where('automation_id', '=', third).execute();
    await tickAt(database.db, when('03:01'));
    expect((await alerts()).map(({ resolved_reason }) => resolved_reason)).to.have.members([
      'The automation is suspended.',
      'The expectation has changed.',
      'The automation is no longer declared.',
    ]);
  });

  it('stops at the oldest event in the queue, and continues when workers have stored it', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('02:00'));
    const backlog = { ...emptyQueue(at('03:30')), oldestAt: at('02:31') };
    const stood = await tickAt(database.db, at('03:30'), { queue: backlog });
    expect(told(stood.transitions)).to.deep.equal([]);
    expect(stood.report?.blindness?.reason).to.equal('The workers have not stored the events in the queue.');
    await event('02:31', 'START');
    await event('02:50', 'END');
    const continued = await tickAt(database.db, at('03:31'));
    expect(told(continued.transitions)).to.deep.equal([]);
    expect(continued.report?.blindness).to.equal(undefined);
  });

  it('waits with the verdicts of an organization in the overflow lane, and of no other', async () => {
    const declared = { expect: nightly, declaredAt: at('00:00') };
    await declare(database.db, { automationId, ...declared }, { automationId, organization: 'globex', ...declared });
    await tickAt(database.db, when('02:00'));
    const overflow = { oldestAt: at('02:20'), organizations: ['acme'] };
    const during = (time: string) =>
      tickAt(database.db, when(time), { queue: { ...emptyQueue(when(time)), overflow } });
    const missing = await during('02:40');
    expect(missing.transitions.map(({ alert }) => `${alert.organization} ${alert.kind}`)).to.deep.equal([
      'globex missing',
    ]);
    expect(missing.report?.blindness).to.equal(undefined);
    await during('05:00');
    // What was in the lane is stored hours later than the watermark has passed it.
    await event('02:31', 'START');
    await event('02:50', 'ERROR');
    await event('02:50', 'END');
    await event('04:00', 'START', 'b');
    expect(told((await during('05:01')).transitions)).to.deep.equal([]);
    const { transitions } = await tickAt(database.db, when('05:02'));
    expect(told(transitions).toSorted()).to.deep.equal(['opened failing failing', 'opened overrunning b']);
  });

  it('calls a start unknown if ingest rejected events then, and waits while Redis is unavailable', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await tickAt(database.db, when('02:00'));
    const away = await tickAt(database.db, at('03:00'), { queue: { reason: 'Redis does not answer.' } });
    expect(away.report?.blindness).to.deep.equal({ since: when('02:00'), reason: 'Redis does not answer.' });
    const gaps = ['02:50', '02:20'].map((end) => ({ from: at('02:05'), until: at(end) }));
    const back = await tickAt(database.db, when('03:00'), { queue: { ...emptyQueue(when('03:00')), gaps } });
    expect(told(back.transitions)).to.deep.equal([]);
    const [row] = await database.db.selectFrom('automations').select('verdict').execute();
    expect(row?.verdict).to.have.nested.property('[0].kind', 'unknown');
    // The next night is provable again.
    expect(told((await tickAt(database.db, when('03:00') + 86_400_000)).transitions)).to.deep.equal([
      'opened missing 2026-11-26T02:30:00.000Z',
    ]);
  });

  it('moves the watermark neither while clocks differ nor backwards', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    const { report } = await tickAt(database.db, when('02:39'));
    const clocks = () => ({ controller: when('02:44'), postgres: when('02:39') });
    const ahead = await tickAt(database.db, when('02:39'), { clocks });
    expect(ahead.report?.watermark).to.equal(report?.watermark);
    expect(told(ahead.transitions)).to.deep.equal([]);
    const back = await tickAt(database.db, when('02:34'));
    expect(back.report?.watermark).to.equal(report?.watermark);
  });

  it('does all or nothing: what a listener refuses comes with the next tick', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    const dying = {
      recordTransitions: async () => {},
      recordTick: () => Promise.reject(new Error('the process died')),
    };
    expect(await failureOf(tickAt(database.db, when('02:40'), { listeners: [dying] }))).to.be.an('error');
    expect(await alerts()).to.deep.equal([]);
    expect(told((await tickAt(database.db, when('02:41'))).transitions)).to.have.length(1);
  });

  it('notifies a listener in parts, which bounds its memory', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
    await declare(database.db, ...ids.map((id) => ({ automationId: id, expect: nightly, declaredAt: at('00:00') })));
    const parts: number[] = [];
    const counting = {
      recordTransitions: async (_: unknown, part: readonly Transition[]) => void parts.push(part.length),
      recordTick: async () => {},
    };
    const { report } = await tickAt(database.db, when('02:40'), { listeners: [counting] });
    expect(parts).to.deep.equal([200, 1]);
    expect(report).to.include({ evaluated: 201, transitions: 201 });
  });

  it('runs in one process at a time', async () => {
    await declare(database.db, { automationId, expect: nightly, declaredAt: at('00:00') });
    await using second = openDatabase(database.url);
    let meanwhile: unknown = 'not asked';
    const asking = {
      recordTransitions: async () => {},
      recordTick: async () => {
        meanwhile = (await tickAt(second, when('02:40'))).report;
      },
    };
    await tickAt(database.db, when('02:40'), { listeners: [asking] });
    expect(meanwhile).to.equal(undefined);
    expect(await alerts()).to.have.length(1);
  });
});
