import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { AutomationPosition } from '../../../internal/record/automation.ts';
import type { ExecutionPosition } from '../../../internal/record/execution.ts';
import type { ExecutionFilters } from '../../../internal/record/filters.ts';
import { createQueries, defaultQueryOptions, type Queries } from '../../../internal/record/queries.ts';
import { compactBefore } from '../../../internal/store/compacted/compact.ts';
import { dayOf } from '../../../internal/store/partitions/days.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { allOf } from '../../support/cold-answers.ts';
import { anEvent } from '../../support/events.ts';
import { day } from '../../support/maintenance-day.ts';
import { startConsole } from '../../support/console.ts';
import { migratedDatabase } from '../../support/store.ts';

type Kind = AcceptedEvent['kind'];

const automations = ['0190a0b0-0000-7000-8000-00000000000a', '0190a0b0-0000-7000-8000-00000000000b'] as const;
/** Automations that run beside each other. */
const many = Array.from({ length: 12 }, (_, at) => `0190a0b0-0000-7000-8000-${String(at).padStart(12, '0')}`) as [
  string,
  string,
  string,
  string,
  ...string[],
];
const hour = day / 24;
const today = dayOf(Date.now());
const options = { ...defaultQueryOptions, searchMs: 60_000, busyRowsPerSecond: 1e9 };

/** As many stay rows as the lists of newest executions show. */
const sizes = { newest: 60, block: 7 };

/** Random executions of two automations in a month, some of which began in the same millisecond. */
const someExecutionsOf = (...ids: string[]) =>
  fc.array(
    fc.record({
      automationId: fc.constantFrom(...ids),
      at: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 30 * 24 }) }, fc.constantFrom(40, 333, 600)),
      isUuid: fc.boolean(),
      kinds: fc.constantFrom<Kind[][]>(
        ['START', 'END'],
        ['START', 'EVENT', 'END'],
        ['START', 'WARNING', 'END'],
        ['START', 'ERROR', 'END'],
        ['END', 'START'],
        ['START', 'START', 'END', 'EVENT'],
        ['START'],
      ),
    }),
    { minLength: 500, maxLength: 700 },
  );

const begin = today - 40 * day;

const eventsOf = (executions: { automationId: string; at: number; isUuid: boolean; kinds: Kind[] }[]) =>
  executions.flatMap(({ automationId, at, isUuid, kinds }, number) =>
    kinds.map((kind, index) =>
      anEvent({
        automationId,
        executionId: isUuid ? `0190a0b0-0000-7000-9000-${String(number).padStart(12, '0')}` : `run ${number}`,
        kind,
        createdAt: begin + at * hour + index * (1_000 + number),
        ...(kind === 'ERROR' && { errorId: `E-${number % 5}`, errorDescription: 'broken' }),
      }),
    ),
  );

const part = { from: new Date(begin + 3.3 * day), to: new Date(begin + 9.7 * day) };

function listsOf(automationId: string): Record<string, ExecutionFilters> {
  return {
    all: {},
    automation: { automationId },
    automations: { automationIds: [automationId] },
    failed: { state: 'failed' },
    'failed of an automation': { state: 'failed', automationId },
    succeeded: { state: 'succeeded', ...part },
    running: { state: 'running' },
    'out of order': { anomaly: 'start_late' },
    'with a warning': { warning: true },
    part,
    'part of an automation': { ...part, automationId },
    error: { errorId: 'E-1' },
    text: { q: 'broken', ...part },
    id: { executionId: 'run 7' },
    uuid: { executionId: '0190a0b0-0000-7000-9000-000000000008', automationId },
    none: { executionId: 'no such run' },
  };
}

/** The answers about executions, page by page. */
async function answers(record: Queries): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const window = { from: new Date(begin - day), to: new Date(today) };
  const [automationId] = automations;
  for (const [name, filters] of Object.entries(listsOf(automationId))) {
    found[`executions, ${name}`] = await allOf<unknown, ExecutionPosition>((after) =>
      record.listExecutions('acme', filters, { limit: 23, after }),
    );
  }
  const all = await allOf((after: ExecutionPosition | undefined) =>
    record.listExecutions('acme', {}, { limit: 500, after }),
  );
  for (const execution of all.filter((_, index) => index % 9 === 0)) {
    const { automation, execution_id: id } = execution;
    found[`execution ${id}`] = await record.getExecution('acme', automation, id);
    const { previous, next } = await record.aroundExecution('acme', execution);
    found[`around ${id}`] = { previous, next };
    found[`events of ${id}`] = await record.listEvents('acme', { executionId: id }, { limit: 10 });
  }
  for (const [name, between] of Object.entries({ window, part })) {
    found[`automations, ${name}`] = await allOf((after: AutomationPosition | undefined) =>
      record.listAutomations('acme', between, { limit: 1, after }),
    );
    found[`automation, ${name}`] = await record.getAutomation('acme', automationId, { ...between, step: 'day' });
    for (const stepMs of [hour, 5 * hour, day]) {
      found[`counts by ${stepMs}, ${name}`] = await record.countExecutions('acme', { ...between, stepMs });
    }
  }
  found['newest runs'] = await record.newestRuns('acme', 60);
  return found;
}

interface ExecutionsPage {
  items: { execution_id: string }[];
  next_cursor: string | null;
}

describe('compacted executions in the record', function suite() {
  this.timeout(300_000);

  it('give the same answers as rows', () =>
    fc.assert(
      fc.asyncProperty(someExecutionsOf(...automations), async (executions) => {
        await using database = await migratedDatabase();
        await recordEvents(database.db, eventsOf(executions));
        const record = createQueries(database.db, options);
        const before = await answers(record);
        await compactBefore(database.db, today - 2 * day, sizes);
        const after = await answers(record);
        for (const [name, answer] of Object.entries(before)) {
          expect(after[name], name).to.deep.equal(answer);
        }
        const rows = await database.db.selectFrom('executions').select('execution_id').execute();
        expect(rows.length).to.be.below(executions.length / 2);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 1), endOnFailure: true },
    ));

  it('are listed as rows are, whatever a page has, and however many automations run at the same time', () =>
    fc.assert(
      fc.asyncProperty(someExecutionsOf(...many), async (executions) => {
        await using database = await migratedDatabase();
        await recordEvents(database.db, eventsOf(executions));
        // Each of its pages ends after a slice.
        const record = createQueries(database.db, { ...options, searchMs: 0 });
        const lists = async () => {
          const found: Record<string, unknown> = {};
          for (const [name, filters] of Object.entries(listsOf(many[3]))) {
            for (const limit of [3, 30]) {
              found[`${name}, ${limit} a page`] = await allOf<unknown, ExecutionPosition>((after) =>
                record.listExecutions('acme', filters, { limit, after }),
              );
            }
          }
          return found;
        };
        const before = await lists();
        await compactBefore(database.db, today - 2 * day, { newest: 2, block: 5 });
        const after = await lists();
        for (const [name, answer] of Object.entries(before)) expect(after[name], name).to.deep.equal(answer);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 1), endOnFailure: true },
    ));

  it('are listed page by page over HTTP, also where all automations begin at the same times', async () => {
    await using database = await migratedDatabase();
    const executions = Array.from({ length: 160 }, (_, at) => ({
      automationId: `0190a0b0-0000-7000-8000-0000000000${String(at % 40).padStart(2, '0')}`,
      at: Math.floor(at / 40),
      isUuid: false,
      kinds: ['START', 'END'] as Kind[],
    }));
    await recordEvents(database.db, eventsOf(executions));
    await compactBefore(database.db, today - 2 * day, { newest: 1, block: 3 });
    await using console = await startConsole(database.url);
    const all = executions.map((_, at) => `run ${at}`).toReversed();
    for (const limit of [1, 100]) {
      const ids: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const path: string = `/v1/executions/?limit=${limit}${cursor && `&cursor=${cursor}`}`;
        const page: ExecutionsPage = (await console.client.send({ path })).json<ExecutionsPage>();
        ids.push(...page.items.map(({ execution_id: id }) => id));
        cursor = page.next_cursor;
      }
      expect(ids, String(limit)).to.deep.equal(all);
    }
  });
});
