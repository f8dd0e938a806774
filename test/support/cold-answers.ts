import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { ExecutionPosition } from '../../internal/record/execution.ts';
import type { TimelineRequest } from '../../internal/record/list-timeline.ts';
import type { Page } from '../../internal/record/page.ts';
import { createQueries, defaultQueryOptions, type Queries } from '../../internal/record/queries.ts';
import type { EventPosition } from '../../internal/record/stored-event.ts';
import { dayOf } from '../../internal/store/partitions/days.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { makeCold, withArchive } from './cold-days.ts';
import { countPlaces, smallBlocks } from './compacted.ts';
import { someEvent } from './events.ts';
import { day } from './maintenance-day.ts';
import { noon } from './reading.ts';
import { migratedDatabase, storedEvents } from './store.ts';

/** RUNS=200 is the whole: about 25 minutes on a busy machine of two cores. */
const runs = Number(process.env['RUNS'] ?? 2);

/** For a test that hangs, in ms. */
export const patienceOfRuns = 120_000 + runs * 60_000;

const old = dayOf(Date.now()) - 8 * day;
const automationId = '0190a0b0-0000-7000-8000-00000000000a';
const options = { ...defaultQueryOptions, searchMs: 60_000, busyRowsPerSecond: 1e9 };

/**
 * Half of the days become cold, and one day has events of both kinds. Every other event is of one
 * of 24 executions of a day, so that these can be compacted.
 */
const someDays = fc.array(someEvent, { minLength: 150, maxLength: 300 }).map((events) =>
  events.map(({ createdAt, occurredAt, ...event }, at): AcceptedEvent => {
    const run = at % 2 === 0 ? undefined : at % 24;
    const shift = old - dayOf(noon) + ((run ?? at) % 8) * day;
    const occurred = occurredAt && (run === undefined ? occurredAt : Math.max(occurredAt, createdAt - day)) + shift;
    return {
      ...event,
      ...(run !== undefined && { executionId: `run ${run} of a day` }),
      createdAt: createdAt + shift,
      ...(occurred && { occurredAt: occurred }),
    };
  }),
);

/**
 * Asks for random days before and after they became cold, which must give the same rows.
 * @param placeOf where the archive of a run is.
 */
export async function expectColdAsHot(placeOf: (run: number) => string): Promise<void> {
  let [run, compacted] = [0, 0];
  const property = fc.asyncProperty(someDays, async (events) => {
    run += 1;
    const place = placeOf(run);
    await using database = await migratedDatabase();
    await recordEvents(database.db, events);
    const stored = await storedEvents(database.db);
    const hot = await answers(createQueries(database.db, options), events);
    const { db, url } = database;
    const { cooled } = await makeCold({ db, url, compaction: smallBlocks }, place);
    compacted += (await countPlaces(db)).compacted;
    expect(cooled).to.have.lengthOf.above(4);
    expect((await storedEvents(database.db)).length)
      .to.be.above(0)
      .and.below(stored.length);
    const cold = await answers(createQueries(withArchive(database.db, place), options), events);
    for (const [name, answer] of Object.entries(hot)) expect(cold[name], name).to.deep.equal(answer);
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: true });
  // A run may have few that can be compacted.
  expect(compacted).to.be.above(3);
}

/** What readers ask, page by page. */
async function answers(record: Queries, events: readonly AcceptedEvent[]): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const window = { from: new Date(old - 100 * day), to: new Date(old + 100 * day) };
  const errorId = events.find(({ kind, errorId: id }) => kind === 'ERROR' && id !== '')?.errorId ?? '';
  const q = events.find(({ description }) => description.length > 2)?.description.slice(0, 2) ?? '';
  for (const [name, filters] of Object.entries({
    all: {},
    automation: { automationId },
    execution: { executionId: 'run 1' },
    'execution of a day': { executionId: 'run 3 of a day' },
    errors: { kind: 'ERROR' },
    times: { from: new Date(old + day), to: new Date(old + 3.5 * day) },
    error: { errorId },
    text: { q },
  } as const)) {
    found[`events ${name}`] = await allOf<unknown, EventPosition>((after) =>
      record.listEvents('acme', filters, { limit: 40, after }),
    );
    const exported: unknown[] = [];
    const upTo = { to: window.to, ...filters };
    for await (const { items } of record.exportEvents('acme', upTo, { limit: 40 })) exported.push(...items);
    found[`export ${name}`] = exported;
  }
  for (const [name, filters] of Object.entries({ error: { errorId }, text: { q } })) {
    found[`executions ${name}`] = await allOf<unknown, ExecutionPosition>((after) =>
      record.listExecutions('acme', filters, { limit: 3, after }),
    );
  }
  const { archived: _sources, ...groups } = await record.listErrors('acme', window, { limit: 500 });
  found['error groups'] = groups;
  found['error times'] = await record.listErrorTimes('acme', groups.items, window);
  const counts = await record.countErrors('acme', { ...window, stepMs: day });
  found['error counts'] = counts.map((count) => JSON.stringify(count)).sort();
  const execution = { automationId, executionId: 'run 1' };
  const { items } = await record.listTimeline('acme', { ...execution, limit: 500, mostBytes: 1e8 });
  const middle = items[Math.floor(items.length / 2)];
  const position = { createdAt: middle?.created_at ?? '', id: middle?.id ?? '' };
  const places: TimelineRequest['place'][] = [
    undefined,
    'last',
    { after: position },
    { before: position },
    { around: position },
  ];
  for (const [at, place] of places.entries()) {
    for (const kind of [undefined, 'ERROR'] as const) {
      const request = { ...execution, kind, place, limit: 25, mostBytes: 1e6 };
      const { archived: _sources, ...timeline } = await record.listTimeline('acme', request);
      found[`timeline ${at} ${kind}`] = timeline;
    }
  }
  return found;
}

/** The items of all pages. */
export async function allOf<Item, Place>(
  read: (after: Place | undefined) => Promise<Page<Item, Place>>,
): Promise<Item[]> {
  const all: Item[] = [];
  let after: Place | undefined;
  do {
    const page = await read(after);
    all.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return all;
}
