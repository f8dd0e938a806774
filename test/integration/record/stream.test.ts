import { expect } from 'chai';
import { Client } from 'pg';
import { createQueries, defaultQueryOptions, type Queries } from '../../../internal/record/queries.ts';
import type { StreamPosition } from '../../../internal/record/stream.ts';
import { eraseEvents } from '../../../internal/store/erase/erase.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { forgetRewritten } from '../../../internal/store/erase/rewritten-events.ts';
import { anEvent } from '../../support/events.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

describe('polls of what is stored', () => {
  let database: TestDatabase;
  let record: Queries;
  beforeEach(async () => {
    database = await migratedDatabase();
    record = createQueries(database.db);
  });
  afterEach(() => database[Symbol.asyncDispose]());

  const store = async (...events: Parameters<typeof anEvent>[0][]): Promise<void> => {
    await recordEvents(database.db, events.map(anEvent));
  };
  const begin = async (): Promise<StreamPosition> => (await record.pollStored('acme', undefined, 10)).position;
  const poll = async (since: StreamPosition, limit = 10) => {
    const { events, ...rest } = await record.pollStored('acme', since, limit);
    return { ...rest, events, texts: events.map(({ event }) => event.description) };
  };

  it('find each new event of the organization once, with its execution as it is now', async () => {
    await store({ description: 'before' });
    const start = await begin();
    expect((await poll(start)).texts).to.deep.equal([]);
    await store({ description: 'a', createdAt: Date.now() }, { organization: 'globex' });
    await store({ description: 'b', kind: 'END', createdAt: Date.now() + 1 });
    const found = await poll(start);
    expect(found.texts).to.deep.equal(['a', 'b']);
    expect(found.executions.map(({ state, counts }) => [state, counts.EVENT, counts.END])).to.deep.equal([
      ['succeeded', 2, 1],
    ]);
    expect((await poll(found.position)).texts).to.deep.equal([]);
    // The same again, as another console after a restart.
    expect((await poll(start)).texts).to.deep.equal(['a', 'b']);
  });

  it('find an event that becomes visible after newer ones, once', async () => {
    const start = await begin();
    const late = new Client({ connectionString: database.url });
    await late.connect();
    try {
      const now = new Date().toISOString();
      await late.query('begin');
      await late.query(
        `insert into events values ('acme', '${now}', gen_random_uuid(), gen_random_uuid(), null, 'x', 'EVENT', 'late', '', '')`,
      );
      await store({ description: 'newer', createdAt: Date.now() + 100 });
      const first = await poll(start);
      expect(first.texts).to.deep.equal(['newer']);
      await late.query('commit');
      const second = await poll(first.position);
      expect(second.texts).to.deep.equal(['late']);
      expect((await poll(second.position)).texts).to.deep.equal([]);
    } finally {
      await late.end();
    }
  });

  it('continue in the middle of a batch, without a gap or a repeat', async () => {
    const start = await begin();
    const now = Date.now();
    await store(...['a', 'b', 'c', 'd'].map((description, index) => ({ description, createdAt: now + index })));
    const { events } = await poll(start);
    await store({ description: 'later', createdAt: now + 1 });
    const middle = events[1]?.position;
    if (middle === undefined) throw new Error('two events are missing');
    const rest = await poll(JSON.parse(JSON.stringify(middle)) as StreamPosition);
    expect(rest.texts).to.deep.equal(['c', 'd']);
    expect((await poll(rest.position)).texts).to.deep.equal(['later']);
  });

  it('show the newest of many events, and count the others', async () => {
    const start = await begin();
    const now = Date.now();
    await store(...Array.from({ length: 25 }, (_, index) => ({ description: String(index), createdAt: now + index })));
    const found = await poll(start);
    expect(found.texts).to.deep.equal(Array.from({ length: 10 }, (_, index) => String(15 + index)));
    expect(found.omitted).to.equal(15);
    expect((await poll(found.position)).texts).to.deep.equal([]);
  });

  it('find an event once, though its texts were erased or it left the DEFAULT partition since', async () => {
    const { db } = database;
    const start = await begin();
    const now = Date.now();
    await store({ description: 'kept', createdAt: now }, { description: 'a name', createdAt: now + 1 });
    const seen = await poll(start);
    expect(seen.texts).to.deep.equal(['kept', 'a name']);
    const [middle] = seen.events;
    if (middle === undefined) throw new Error('an event is missing');

    const request = {
      organization: 'acme',
      text: 'a name',
      before: new Date(now + 60_000),
      by: 'somebody',
      reason: 'asked',
    };
    expect((await eraseEvents(db, request, 10).next()).value).to.include({ scope: 'text' });
    const erased = await poll(seen.position);
    expect(erased.texts).to.deep.equal([]);
    await maintain(db, { now, daysAhead: 0, retentionDays: 0 });
    const moved = await poll(erased.position);
    expect(moved.texts).to.deep.equal([]);
    await store({ description: 'later', createdAt: now + 2 });
    expect((await poll(moved.position)).texts).to.deep.equal(['later']);
    // Another console after a restart: from the end, and from the middle of a batch.
    expect((await poll(seen.position)).texts).to.deep.equal(['later']);
    const rest = await poll(middle.position);
    expect(rest.texts).to.deep.equal(['']);
    expect((await poll(rest.position)).texts).to.deep.equal(['later']);
    expect(await db.selectFrom('rewritten_events').selectAll().execute()).to.have.lengthOf(2);
    await forgetRewritten.execute(db);
    expect(await db.selectFrom('rewritten_events').selectAll().execute()).to.have.lengthOf(2);
  });

  it('leave out an event that is older than the overlap', async () => {
    record = createQueries(database.db, { ...defaultQueryOptions, overlapMs: 1_000 });
    await store({ description: 'before' });
    const start = await begin();
    const now = Date.now();
    await store({ description: 'old', createdAt: now - 60_000 }, { description: 'new', createdAt: now });
    expect((await poll(start)).texts).to.deep.equal(['new']);
  });
});
