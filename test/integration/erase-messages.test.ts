import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Alert } from '../../internal/expectation/transition.ts';
import { alertEvents, executionEvent, type CloudEvent } from '../../internal/controller/notify/cloud-event.ts';
import { insertMessages } from '../../internal/controller/notify/insert-messages.ts';
import { ConsoleLinks } from '../../internal/controller/notify/links.ts';
import { runAdmin } from '../support/admin.ts';
import { eachDatabase } from '../support/store.ts';

const automationId = '0190a0b0-0000-7000-8000-000000000001';
const links = new ConsoleLinks(undefined);
const nightly = { namespace: 'a', name: 'nightly', displayName: 'Nightly', owner: '', links: [], alertLabels: {} };

describe('erase, of alerts and notifications', () => {
  const database = eachDatabase();
  /** Reasons of the alerts, and types and executions of the notifications that are left. */
  async function leftAfter(...args: string[]): Promise<string[][]> {
    const { db, url } = database;
    const who = ['erase', '--organization', 'acme', '--by', 'ana', '--reason', 'x'];
    const { code, stderr } = await runAdmin([...who, ...args, '--yes'], { env: { DATABASE_URL: url } });
    expect(code, stderr).to.equal(0);
    const alerts = await db.selectFrom('alerts').select('reason').orderBy('reason').execute();
    const messages = await db.selectFrom('deliveries').select('event').orderBy('sequence').execute();
    const told = messages.map(({ event }) => event as unknown as CloudEvent);
    return [alerts.map(({ reason }) => reason), told.map(({ subject, type }) => `${type} ${subject}`)];
  }

  beforeEach(async () => {
    for (const [reason, facts] of [
      ['of nightly', { execution: 'nightly' }],
      ['after nightly', { last_execution: 'nightly' }],
      ['of execution', { execution: 'execution' }],
    ] satisfies [string, Record<string, string>][]) {
      const alert: Alert = {
        id: randomUUID(),
        organization: 'acme',
        automationId,
        kind: 'failing',
        occurrence: 'failing',
        reason,
        facts,
        openedAt: Date.now(),
        resolvedAt: undefined,
        resolvedReason: undefined,
      };
      await database.db
        .insertInto('alerts')
        .values({
          id: alert.id,
          organization: 'acme',
          automation_id: automationId,
          kind: 'failing',
          occurrence: `failing ${reason}`,
          reason,
          facts: JSON.stringify(facts),
          opened_at: new Date(),
          seen_at: new Date(),
        })
        .execute();
      const failure = {
        executionId: facts.execution ?? '',
        error: { id: 'E2', firstLine: `${reason} for`, firstLines: `${reason} for\nJohn` },
      };
      await tell(...alertEvents({ change: 'opened', alert, automation: nightly }, failure, links));
    }
    for (const [executionId, errorDescription] of [
      ['nightly', 'none'],
      ['failing', 'said Jane\n'],
      ['Jane', 'none'],
    ] as const) {
      const step = {
        automationId,
        executionId,
        state: 'failed',
        at: new Date(),
        occurredAt: new Date(),
        errorId: 'E1',
        errorDescription,
      } as const;
      await tell(executionEvent(step, 'acme', nightly, links));
    }
  });

  function tell(...events: CloudEvent[]): Promise<void> {
    const channel = { organization: 'acme', namespace: 'a', name: 'hook' };
    const messages = events.map((event) => ({ channel, automationId, event }));
    return database.db.transaction().execute((trx) => insertMessages(trx, messages));
  }

  const alerted = `dev.runledger.automation.failing ${automationId}`;
  const failed = (id: string): string => `dev.runledger.execution.failed ${automationId}/${id}`;

  it('takes those of one execution, and not those that hold its id for something else', async () => {
    expect(await leftAfter('--automation', automationId, '--execution', 'nightly')).to.deep.equal([
      ['of execution'],
      [alerted, failed('failing'), failed('Jane')],
    ]);
    expect(await leftAfter('--automation', automationId, '--execution', 'failing')).to.deep.equal([
      ['of execution'],
      [alerted, failed('Jane')],
    ]);
  });

  it('takes notifications with a text of an event, and not those that hold it elsewhere', async () => {
    expect((await leftAfter('--text', 'error_id'))[1]).to.have.lengthOf(6);
    expect((await leftAfter('--text', 'after nightly for\njohn'))[1]).to.have.lengthOf(5);
    expect((await leftAfter('--text', 'said jane\n'))[1]).to.deep.equal([
      alerted,
      alerted,
      failed('nightly'),
      failed('Jane'),
    ]);
  });

  it('takes what owners wrote about an execution, and a text out of every note', async () => {
    const { db } = database;
    const [alert] = await db.selectFrom('alerts').select('id').where('reason', '=', 'of nightly').execute();
    const act = { organization: 'acme', automation_id: automationId, made_by: 'Olga', details: '{}' };
    await db
      .insertInto('acts')
      .values([
        { ...act, id: randomUUID(), kind: 'note', execution_id: 'nightly', note: 'note of nightly' },
        { ...act, id: randomUUID(), kind: 'close', execution_id: 'other', note: 'closed, says Jané' },
        { ...act, id: randomUUID(), kind: 'acknowledge', about: alert?.id ?? '', note: 'I look' },
        { ...act, id: randomUUID(), kind: 'mute', note: 'quiet' },
      ])
      .execute();
    const left = async () => {
      const rows = await db.selectFrom('acts').select(['kind', 'note']).orderBy('kind').execute();
      return rows.map(({ kind, note }) => `${kind} ${note}`);
    };
    await leftAfter('--text', 'JANÉ');
    expect(await left()).to.deep.equal(['acknowledge I look', 'close ', 'mute quiet', 'note note of nightly']);
    await leftAfter('--automation', automationId, '--execution', 'nightly');
    expect(await left()).to.deep.equal(['close ', 'mute quiet']);
    await leftAfter('--automation', automationId);
    expect(await left()).to.deep.equal(['mute quiet']);
  });

  it('takes all of an automation', async () => {
    expect(await leftAfter('--automation', automationId)).to.deep.equal([[], []]);
  });
});
