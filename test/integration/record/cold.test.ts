import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { createQueries, defaultQueryOptions, type Queries } from '../../../internal/record/queries.ts';
import type { TimelineRequest } from '../../../internal/record/list-timeline.ts';
import type { ExecutionPosition } from '../../../internal/record/execution.ts';
import type { Page } from '../../../internal/record/page.ts';
import type { EventPosition } from '../../../internal/record/stored-event.ts';
import { dayOf } from '../../../internal/store/partitions/days.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { makeCold, withArchive } from '../../support/cold-days.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { namesIn, temporaryFolder } from '../../support/export.ts';
import { failureOf } from '../../support/failure.ts';
import { day } from '../../support/maintenance-day.ts';
import { noon } from '../../support/reading.ts';
import { eachDatabase, storedEvents } from '../../support/store.ts';

const old = dayOf(Date.now()) - 8 * day;
const automationId = '0190a0b0-0000-7000-8000-00000000000a';
const options = { ...defaultQueryOptions, searchMs: 60_000, busyRowsPerSecond: 1e9 };

describe('days that only the archive has', function suite() {
  this.timeout(120_000);
  const database = eachDatabase();
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  const store = (...events: Parameters<typeof anEvent>[0][]) =>
    recordEvents(
      database.db,
      events.map((event, at) => anEvent({ createdAt: old + at, ...event })),
    );

  it('give the same answers as Postgres, row for row', async () => {
    const events = fc.sample(someEvent, { numRuns: 300, seed: 55 }).map((event, at): AcceptedEvent => {
      // Half of the days become cold, and one day has events of both kinds.
      const shift = old - dayOf(noon) + (at % 8) * day;
      const { createdAt, occurredAt } = event;
      return { ...event, createdAt: createdAt + shift, ...(occurredAt && { occurredAt: occurredAt + shift }) };
    });
    await recordEvents(database.db, events);
    const hot = await answers(createQueries(database.db, options), events);
    const { cooled } = await makeCold(database, folder.path);
    expect(cooled).to.have.lengthOf.above(4);
    const left = await storedEvents(database.db);
    expect(left).to.have.lengthOf.above(20).and.below(280);
    const cold = await answers(createQueries(withArchive(database.db, folder.path), options), events);
    for (const [name, answer] of Object.entries(hot)) expect(cold[name], name).to.deep.equal(answer);
  });

  it('say which object an answer comes from', async () => {
    await store({ executionId: 'run' }, { executionId: 'run', createdAt: Date.now() });
    await makeCold(database, folder.path);
    const record = createQueries(withArchive(database.db, folder.path));
    const { items, archived } = await record.listEvents('acme', { executionId: 'run' }, { limit: 9 });
    expect(items).to.have.lengthOf(2);
    const [source, ...others] = archived ?? [];
    expect(others).to.deep.equal([]);
    expect(source).to.include({ day: new Date(old).toISOString().slice(0, 10), object: 'events.parquet' });
    expect(source?.manifest_sha256).to.match(/^[0-9a-f]{64}$/);
    const newest = await record.listEvents('acme', { executionId: 'run', from: new Date(old + day) }, { limit: 9 });
    expect(newest).to.not.have.property('archived');
  });

  it('get a further object for an event that comes late', async () => {
    await store({ executionId: 'run' });
    await makeCold(database, folder.path);
    await store({ executionId: 'run', createdAt: old + 5_000 });
    const record = createQueries(withArchive(database.db, folder.path));
    const list = async () => (await record.listEvents('acme', { executionId: 'run' }, { limit: 9 })).items;
    const both = await list();
    expect(both).to.have.lengthOf(2);
    expect((await makeCold(database, folder.path)).cooled).to.have.lengthOf(1);
    expect(await storedEvents(database.db)).to.deep.equal([]);
    expect(await list()).to.deep.equal(both);
    expect((await namesIn(folder.path)).filter((name) => name.endsWith('.parquet'))).to.have.lengthOf(2);
  });

  it('are never left out in silence: neither without their archive, nor once an object has changed', async () => {
    await store({ executionId: 'run' });
    await makeCold(database, folder.path);
    const list = (record: Queries) => failureOf(record.listEvents('acme', { executionId: 'run' }, { limit: 9 }));
    expect(await list(createQueries(database.db))).to.have.property('name', 'ArchiveAway');
    const read = () => list(createQueries(withArchive(database.db, folder.path)));
    const [object = '', manifest = ''] = (await namesIn(folder.path)).map((name) => join(folder.path, name));
    for (const file of [object, manifest]) {
      await writeFile(file, 'changed', { flag: 'r+' });
      expect(await read()).to.have.property('name', 'ArchiveDamaged');
    }
    await rm(manifest);
    expect(await read()).to.have.property('name', 'ArchiveDamaged');
  });
});

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

async function allOf<Item, Place>(read: (after: Place | undefined) => Promise<Page<Item, Place>>): Promise<Item[]> {
  const all: Item[] = [];
  let after: Place | undefined;
  do {
    const page = await read(after);
    all.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return all;
}
