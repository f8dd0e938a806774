import { expect } from 'chai';
import type { AutomationPosition } from '../../../internal/record/automation.ts';
import { createQueries } from '../../../internal/record/queries.ts';
import { query } from '../../support/postgres-server.ts';
import { noon, storeEvents, type SomeEvent } from '../../support/reading.ts';
import { eachDatabase, listRunning } from '../../support/store.ts';

const [first, second] = ['0190a0b0-0000-7000-8000-000000000001', '0190a0b0-0000-7000-8000-000000000002'] as const;
const hour = 3_600_000;
const at = (hours: number): string => new Date(noon + hours * hour).toISOString();

/** An execution that begins some hours after noon and ends a second later as it should. */
function execution(
  id: string,
  hours: number,
  state: 'running' | 'succeeded' | 'failed',
  given: SomeEvent = {},
): SomeEvent[] {
  const kinds = { running: ['START'], succeeded: ['START', 'END'], failed: ['START', 'ERROR', 'END'] } as const;
  return kinds[state].map((kind, index) => ({
    automationId: first,
    executionId: id,
    kind,
    createdAt: noon + hours * hour + index * 1_000,
    ...(kind === 'ERROR' && { errorId: 'E-1' }),
    ...given,
  }));
}

describe('figures of the console', () => {
  const database = eachDatabase();
  const record = (): ReturnType<typeof createQueries> => createQueries(database.db);

  beforeEach(() =>
    storeEvents(
      database.db,
      ...execution('a', 0, 'succeeded'),
      ...execution('b', 0.5, 'failed'),
      ...execution('c', 0.75, 'running'),
      ...execution('d', 2, 'failed', { automationId: second }),
      ...execution('e', 3, 'succeeded'),
      ...execution('x', 1, 'failed', { organization: 'globex' }),
    ),
  );

  it('count executions by step and state, in the window only', async () => {
    const window = { from: new Date(noon), to: new Date(noon + 3 * hour), stepMs: hour };
    expect(await record().countExecutions('acme', window)).to.deep.equal([
      { at: at(0), counts: { running: 1, succeeded: 1, failed: 1 } },
      { at: at(2), counts: { running: 0, succeeded: 0, failed: 1 } },
    ]);
    const cut = { from: new Date(noon + 0.6 * hour), to: new Date(noon + 3.5 * hour), stepMs: 2 * hour };
    expect(await record().countExecutions('acme', cut)).to.deep.equal([
      { at: at(0), counts: { running: 1, succeeded: 0, failed: 0 } },
      { at: at(2), counts: { running: 0, succeeded: 1, failed: 1 } },
    ]);
  });

  it('count running executions, and overdue ones among them', async () => {
    const counts = (overdueBefore: number) => record().countRunning('acme', new Date(overdueBefore));
    expect(await counts(noon)).to.deep.equal({ running: 1, overdue: 0, more: false });
    expect(await counts(noon + hour)).to.deep.equal({ running: 1, overdue: 1, more: false });
  });

  it('have the newest runs of all automations, or of some', async () => {
    const runsOf = async (...given: Parameters<ReturnType<typeof record>['newestRuns']>) =>
      (await record().newestRuns(...given)).map(({ automation, runs }) => [
        automation,
        runs.map(({ execution_id, state, duration_ms }) => `${execution_id} ${state} ${duration_ms}`),
      ]);
    expect(await runsOf('acme', 3)).to.deep.equal([
      [first, ['e succeeded 1000', 'c running null', 'b failed 2000']],
      [second, ['d failed 2000']],
    ]);
    expect(await runsOf('acme', 1, [second, '0190a0b0-0000-7000-8000-00000000000f'])).to.deep.equal([
      [second, ['d failed 2000']],
    ]);
    expect(await runsOf('nobody', 3)).to.deep.equal([]);
  });

  it('know no duration of a run without START, nor of one that was reported at its end only', async () => {
    const lone = '0190a0b0-0000-7000-8000-000000000003';
    const run = (id: string, ...kinds: ('START' | 'EVENT' | 'END')[]): SomeEvent[] =>
      kinds.map((kind, at) => ({
        automationId: lone,
        executionId: id,
        kind,
        createdAt: noon + (id === 'at once' ? 0 : at * 1_000),
      }));
    await storeEvents(
      database.db,
      ...['1', '2', '3'].flatMap((id) => run(id, 'END')),
      ...run('late', 'EVENT', 'END'),
      ...run('at once', 'START', 'END'),
      ...run('whole', 'START', 'EVENT', 'END'),
    );
    const window = { from: new Date(noon), to: new Date(noon + hour) };
    const automation = await record().getAutomation('acme', lone, { ...window, step: 'hour' });
    expect(automation?.window).to.include({ p50_ms: 2_000, p95_ms: 2_000 });
    const byId = (runs: readonly { execution_id: string; duration_ms: number | null }[] = []) =>
      Object.fromEntries(runs.map(({ execution_id, duration_ms }) => [execution_id, duration_ms]));
    const expected = { 1: null, 2: null, 3: null, late: null, 'at once': null, whole: 2_000 };
    expect(byId(automation?.executions)).to.deep.equal(expected);
    expect(byId((await record().newestRuns('acme', 9, [lone]))[0]?.runs)).to.deep.equal(expected);
    const [place] = (await record().listExecutions('acme', { automationId: lone }, { limit: 1 })).items;
    const around = place && (await record().aroundExecution('acme', place));
    expect(around).to.include({ p50_ms: 2_000, p95_ms: 2_000, compared: 1 });
  });

  it('count errors by automation, error_id and step', async () => {
    const window = { from: new Date(noon), to: new Date(noon + 4 * hour), stepMs: hour };
    const counts = await record().countErrors('acme', window);
    expect(counts.sort((a, b) => a.at.localeCompare(b.at))).to.deep.equal([
      { automation: first, error_id: 'E-1', at: at(0), count: 1 },
      { automation: second, error_id: 'E-1', at: at(2), count: 1 },
    ]);
  });

  it('end a page of automations after 3,000 executions; the pages have each automation once', async () => {
    await query(
      database.url,
      `insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at,
         start_count, event_count, warning_count, error_count, end_count)
       select 'initech', ('00000000-0000-4000-9000-00000000000' || automation)::uuid, number::text, at, at, at, 1, 0, 0, 0, 0
       from generate_series(1, 9) as automation,
         generate_series(1, case when automation > 6 then 5 else 1100 end) as number,
         lateral (select timestamptz '${at(0)}' + number * interval '1 ms' as at) as times`,
    );
    await query(database.url, `${listRunning} and organization = 'initech'`);
    const window = { from: new Date(noon), to: new Date(noon + hour) };
    const pages: (readonly [automations: string, executions: number, from: string])[][] = [];
    let after: AutomationPosition | undefined;
    do {
      const page = await record().listAutomations('initech', window, { limit: 500, after });
      const last = (automation: string): string => automation.slice(-1);
      pages.push(
        page.items.map(({ automation, window: { counts, from } }) => [last(automation), counts.running, from] as const),
      );
      after = page.next;
    } while (after !== undefined);
    const [all, newest] = [at(0), new Date(noon + 101).toISOString()];
    expect(pages).to.deep.equal([
      ['1', '2', '3'].map((automation) => [automation, 1_000, newest]),
      ['4', '5', '6'].map((automation) => [automation, 1_000, newest]),
      ['7', '8', '9'].map((automation) => [automation, 5, all]),
    ]);
  });

  it('name the neighbours of an execution, and the usual durations of its automation', async () => {
    const around = async (id: string) => {
      const found = await record().getExecution('acme', first, id);
      return found && record().aroundExecution('acme', found);
    };
    const durations = { p50_ms: 1_000, p95_ms: 1_900, compared: 3 };
    expect(await around('a')).to.deep.equal({ previous: null, next: 'b', ...durations });
    expect(await around('b')).to.deep.equal({ previous: 'a', next: 'c', ...durations });
    expect(await around('e')).to.deep.equal({ previous: 'c', next: null, ...durations });
  });
});
