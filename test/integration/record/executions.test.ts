import { expect } from 'chai';
import { createQueries, defaultQueryOptions, type Queries } from '../../../internal/record/queries.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');
const other = '0190a0b0-0000-7000-8000-0000000000ff';

describe('lists of executions', () => {
  let database: TestDatabase;
  let record: Queries;
  beforeEach(async () => {
    database = await migratedDatabase();
    record = createQueries(database.db, { ...defaultQueryOptions, searchMs: 10_000 });
  });
  afterEach(() => database[Symbol.asyncDispose]());

  const store = (...events: Parameters<typeof anEvent>[0][]): Promise<unknown> =>
    recordEvents(
      database.db,
      events.map((given, index) => anEvent({ createdAt: noon + index, ...given })),
    );
  const listed = async (filters: Parameters<Queries['listExecutions']>[1], limit = 50): Promise<string[]> => {
    const found: string[] = [];
    let after: Parameters<Queries['listExecutions']>[2]['after'];
    do {
      const page = await record.listExecutions('acme', filters, { limit, after });
      expect(page.items.length).to.be.at.most(limit);
      found.push(...page.items.map((execution) => execution.execution_id));
      after = page.next;
    } while (after !== undefined);
    return found;
  };

  it('show an execution with its state, times, counts and anomalies', async () => {
    await store({ kind: 'START' }, { kind: 'WARNING' }, { kind: 'ERROR' }, { kind: 'END' }, { kind: 'EVENT' });
    const time = (index: number): string => new Date(noon + index).toISOString();
    const expected = {
      automation: anEvent().automationId,
      execution_id: 'run 1',
      state: 'failed',
      first_event_at: time(0),
      last_event_at: time(4),
      started_at: time(0),
      failed_at: time(2),
      ended_at: time(3),
      duration_ms: 3,
      counts: { START: 1, EVENT: 1, WARNING: 1, ERROR: 1, END: 1 },
      anomalies: ['event_after_end'],
    };
    expect(await record.getExecution('acme', anEvent().automationId.toUpperCase(), 'run 1')).to.deep.equal(expected);
    expect((await record.listExecutions('acme', {}, { limit: 1 })).items).to.deep.equal([expected]);
    expect(await record.getExecution('globex', anEvent().automationId, 'run 1')).to.equal(undefined);
    expect(await record.getExecution('acme', other, 'run 1')).to.equal(undefined);
  });

  it('come newest first, page by page, each execution once, also with equal times', async () => {
    const runs = Array.from({ length: 23 }, (_, index) => `run ${String(index).padStart(2, '0')}`);
    await store(...runs.map((executionId, index) => ({ executionId, createdAt: noon + Math.floor(index / 6) })));
    await store({ organization: 'globex', executionId: 'of another' });
    const expected = runs.toReversed();
    for (const limit of [1, 5, 23, 24]) expect(await listed({}, limit), `limit ${limit}`).to.deep.equal(expected);
  });

  it('show a run that is lost, apart from those that run, until an event comes', async () => {
    await store({ kind: 'START', executionId: 'silent' }, { kind: 'START', executionId: 'running' });
    const lost = { lost_at: new Date(noon + 60_000) };
    await database.db.updateTable('running_executions').set(lost).where('execution_id', '=', 'silent').execute();
    const states = async () =>
      (await record.listExecutions('acme', {}, { limit: 50 })).items.map((one) => `${one.execution_id} ${one.state}`);
    expect(await states()).to.deep.equal(['running running', 'silent lost']);
    expect(await listed({ state: 'lost' })).to.deep.equal(['silent']);
    expect(await listed({ state: 'running' })).to.deep.equal(['running']);
    expect(await listed({ q: 'silent' })).to.deep.equal(['silent']);
    const { automationId } = anEvent();
    expect((await record.getExecution('acme', automationId, 'silent'))?.state).to.equal('lost');
    const window = { from: new Date(noon - 60_000), to: new Date(noon + 60_000) };
    const detail = await record.getAutomation('acme', automationId, { ...window, step: 'hour' });
    expect(detail?.executions.map(({ state }) => state)).to.have.members(['lost', 'running']);
    const page = await record.listAutomations('acme', window, { limit: 9 });
    expect(page.items.map((one) => one.last_execution?.state)).to.deep.equal([detail?.last_execution?.state]);
    const [runs] = await record.newestRuns('acme', 9);
    expect(runs?.runs.map(({ state }) => state)).to.have.members(['lost', 'running']);
    await store({ kind: 'EVENT', executionId: 'silent', createdAt: noon + 120_000 });
    expect(await states()).to.deep.equal(['running running', 'silent running']);
  });

  it('filter by state, automation, id, time, error_id, anomaly, warning and text', async () => {
    await store(
      { executionId: 'running', kind: 'START' },
      { executionId: 'good', kind: 'START', automationId: other.toUpperCase() },
      { executionId: 'good', kind: 'WARNING', automationId: other, description: 'a 100% Full disk' },
      { executionId: 'good', kind: 'END', automationId: other },
      { executionId: 'bad', kind: 'START' },
      { executionId: 'bad', kind: 'ERROR', errorId: 'E-1', errorDescription: 'it broke' },
      { executionId: 'bad', kind: 'END', errorId: 'E-2' },
      { executionId: 'no start', kind: 'END', createdAt: noon + 60_000 },
    );
    expect(await listed({ state: 'running' })).to.deep.equal(['running']);
    expect(await listed({ state: 'succeeded' })).to.deep.equal(['no start', 'good']);
    expect(await listed({ state: 'failed' })).to.deep.equal(['bad']);
    expect(await listed({ automationId: other })).to.deep.equal(['good']);
    expect(await listed({ automationId: other, state: 'failed' })).to.deep.equal([]);
    expect(await listed({ executionId: 'good' })).to.deep.equal(['good']);
    expect(await listed({ executionId: 'good', automationId: anEvent().automationId })).to.deep.equal([]);
    expect(await listed({ from: new Date(noon + 4), to: new Date(noon + 60_000) })).to.deep.equal(['bad']);
    expect(await listed({ errorId: 'E-1' })).to.deep.equal(['bad']);
    expect(await listed({ errorId: 'E-2' })).to.deep.equal([]);
    expect(await listed({ errorId: 'E-1', q: 'broke' })).to.deep.equal(['bad']);
    expect(await listed({ errorId: 'E-1', q: 'full' })).to.deep.equal([]);
    expect(await listed({ anomaly: 'start_missing' })).to.deep.equal(['no start']);
    expect(await listed({ anomaly: 'start_late' })).to.deep.equal([]);
    expect(await listed({ warning: true })).to.deep.equal(['good']);
    expect(await listed({ q: '0% full' })).to.deep.equal(['good']);
    expect(await listed({ q: 'IT BROKE', state: 'failed' })).to.deep.equal(['bad']);
    expect(await listed({ q: 'NO ST' })).to.deep.equal(['no start']);
    expect(await listed({ q: '_' })).to.deep.equal([]);
  });

  it('filter by error_id, whether the executions are of a day, one of them is long, or of many days', async () => {
    const failed = (executionId: string, errorId: string, createdAt: number) =>
      ({ executionId, kind: 'ERROR', errorId, createdAt }) as const;
    const filters = { errorId: 'E-1', to: new Date(noon + 3_600_000) };
    await store(failed('a', 'E-1', noon), failed('a', 'E-2', noon + 1), failed('b', 'E-2', noon + 2));
    await store(failed('c', 'E-2', noon + 3), failed('c', 'E-1', noon + 4), failed('d', 'E-1', noon + 5));
    await store({ executionId: 'd', kind: 'END', createdAt: noon + 6 }, { executionId: 'no error', createdAt: noon });
    for (const limit of [1, 2, 3, 50]) expect(await listed(filters, limit)).to.deep.equal(['d', 'c', 'a']);
    expect(await listed({ ...filters, errorId: 'E-2' }, 1)).to.deep.equal(['c', 'b', 'a']);
    expect(await listed({ ...filters, automationId: other })).to.deep.equal([]);
    expect(await listed({ ...filters, warning: true })).to.deep.equal([]);

    await store({ ...failed('told later', 'E-9', noon + 1_000), occurredAt: noon });
    expect(await listed({ ...filters, errorId: 'E-9' })).to.deep.equal(['told later']);

    await store({ executionId: 'long', createdAt: noon - 1 }, failed('long', 'E-1', noon + 2 * 3_600_000));
    for (const limit of [1, 4]) expect(await listed(filters, limit)).to.deep.equal(['d', 'c', 'a', 'long']);
    await store(failed('old', 'E-1', noon - 3 * 24 * 3_600_000));
    for (const limit of [1, 5]) expect(await listed(filters, limit)).to.deep.equal(['d', 'c', 'a', 'long', 'old']);
  });

  it('search in slices, and end a page with a position when the time is used up', async () => {
    const runs = Array.from({ length: 1_200 }, (_, index) => index);
    await store(
      ...runs.map((index) => ({ executionId: `run ${index}`, kind: index === 5 ? 'END' : 'EVENT' }) as const),
    );
    expect(await listed({ state: 'succeeded' })).to.deep.equal(['run 5']);
    record = createQueries(database.db, { ...defaultQueryOptions, searchMs: 0 });
    const page = await record.listExecutions('acme', { state: 'succeeded' }, { limit: 50 });
    expect(page).to.deep.include({ items: [] });
    expect(page.next).to.deep.include({ executionId: 'run 1098' });
    expect(await listed({ state: 'succeeded' })).to.deep.equal(['run 5']);
  });
});
