import { expect } from 'chai';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { recordedForm } from '../../../internal/event/event.ts';
import { foldedText, holdsText } from '../../../internal/event/folded-text.ts';
import type { EventFilters } from '../../../internal/record/filters.ts';
import { createQueries, defaultQueryOptions, type Queries } from '../../../internal/record/queries.ts';
import type { EventPosition } from '../../../internal/record/stored-event.ts';
import { columnHoldsText } from '../../../internal/store/column-holds-text.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { day } from '../../support/maintenance-day.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

const other = '0190a0b0-0000-7000-8000-0000000000ff';
const noon = Date.parse('2026-11-20T12:00:00Z');

describe('lists of events', () => {
  let database: TestDatabase;
  let record: Queries;
  beforeEach(async () => {
    database = await migratedDatabase();
    record = createQueries(database.db, { ...defaultQueryOptions, searchMs: 10_000 });
  });
  afterEach(() => database[Symbol.asyncDispose]());

  const store = async (...events: Parameters<typeof anEvent>[0][]): Promise<void> => {
    await recordEvents(database.db, events.map(anEvent));
  };
  const listed = async (filters: EventFilters, limit = 50): Promise<string[]> => {
    const found: string[] = [];
    let after: EventPosition | undefined;
    do {
      const page = await record.listEvents('acme', filters, { limit, after });
      expect(page.items.length).to.be.at.most(limit);
      found.push(...page.items.map(({ description }) => description));
      after = page.next;
    } while (after !== undefined);
    return found;
  };
  const exported = async (filters: EventFilters, limit = 50): Promise<string[]> => {
    const found: string[] = [];
    for await (const page of record.exportEvents('acme', filters, { limit })) {
      found.push(...page.items.map(({ description }) => description));
    }
    return found;
  };

  it('show each event as its caller got it, with its id', async () => {
    const event = anEvent({ automationId: other.toUpperCase(), kind: 'ERROR', errorId: 'E', errorDescription: 'D' });
    await recordEvents(database.db, [event]);
    const { items } = await record.listEvents('acme', {}, { limit: 1 });
    expect(items).to.deep.equal([{ ...recordedForm(event), id: event.id, occurred_at: null }]);
    expect((await record.listEvents('globex', {}, { limit: 1 })).items).to.deep.equal([]);
  });

  it('come newest first over days, gaps and years, and export oldest first; each event once', async () => {
    const now = Date.now();
    const times = [0, 0, 1, day, day + 1, 9 * day, 10 * day, 10 * day, 70 * day, 800 * day].map((age) => now - age);
    await store(
      ...times.map((createdAt, index) => {
        return { createdAt, id: `00000000-0000-7000-8000-00000000000${index}`, description: String(index) };
      }),
    );
    await store({ organization: 'globex', createdAt: now - 5 * day });
    const newestFirst = ['1', '0', '2', '3', '4', '5', '7', '6', '8', '9'];
    for (const migrated of [false, true]) {
      if (migrated) await maintain(database.db, { now, daysAhead: 1, retentionDays: 0 });
      for (const limit of [1, 2, 3, 50]) {
        expect(await listed({}, limit), `limit ${limit}`).to.deep.equal(newestFirst);
        expect(await exported({ to: new Date(now + 1) }, limit), `limit ${limit}`).to.deep.equal(
          newestFirst.toReversed(),
        );
      }
    }
  });

  it('of an execution are all found, whenever they happened; so is their execution by a text', async () => {
    const now = Date.now();
    await store(
      { kind: 'START', description: 'late', createdAt: now, occurredAt: now - 80 * day },
      { description: 'later', createdAt: now - 2 * day, occurredAt: now - 79 * day },
      { kind: 'END', description: 'ahead', createdAt: now - 20 * day, occurredAt: now - 20 * day + 300_000 },
    );
    for (const migrated of [false, true]) {
      if (migrated) await maintain(database.db, { now, daysAhead: 1, retentionDays: 0 });
      expect(await listed({ executionId: 'run 1' })).to.deep.equal(['ahead', 'later', 'late']);
      expect(await exported({ executionId: 'run 1' })).to.deep.equal(['ahead', 'later', 'late']);
      for (const q of ['late', 'ahead']) {
        const { items } = await record.listExecutions('acme', { q }, { limit: 5 });
        expect(items.map(({ duration_ms }) => duration_ms)).to.deep.equal([60 * day + 300_000]);
      }
    }
  });

  it('of an execution that began ahead of its acceptance are all found', async () => {
    const now = Date.now();
    await store({ description: 'ahead', createdAt: now, occurredAt: now + 300_000 });
    expect(await listed({ executionId: 'run 1' })).to.deep.equal(['ahead']);
  });

  it('filter by automation, execution, kind, time, error_id and text', async () => {
    await store(
      { kind: 'START', description: 'a', createdAt: noon },
      { kind: 'ERROR', description: 'b', createdAt: noon + 1, errorId: 'E-1', errorDescription: 'Disk FULL' },
      { kind: 'END', description: 'c', createdAt: noon + 2, errorId: 'E-1' },
      { kind: 'START', description: 'd', createdAt: noon + 3, automationId: other },
      { kind: 'ERROR', description: 'e', createdAt: noon + 4, executionId: 'run 2', errorId: 'E-2' },
    );
    const cases: [EventFilters, string[]][] = [
      [{ automationId: other.toUpperCase() }, ['d']],
      [{ kind: 'START' }, ['d', 'a']],
      [{ kind: 'ERROR' }, ['e', 'b']],
      [{ errorId: 'E-1' }, ['b']],
      [{ from: new Date(noon + 1), to: new Date(noon + 3) }, ['c', 'b']],
      [{ q: 'k full' }, ['b']],
      [{ q: 'RUN 2' }, ['e']],
      [{ automationId: other, kind: 'ERROR' }, []],
    ];
    for (const [filters, newestFirst] of cases) {
      expect(await listed(filters, 2), JSON.stringify(filters)).to.deep.equal(newestFirst);
      expect(await exported(filters, 2), JSON.stringify(filters)).to.deep.equal(newestFirst.toReversed());
    }
    for (const list of [listed, exported]) {
      expect(await list({ executionId: 'run 1' }, 2)).to.deep.equal(['a', 'b', 'c', 'd']);
      expect(await list({ executionId: 'run 1', automationId: anEvent().automationId }, 2)).to.deep.equal([
        'a',
        'b',
        'c',
      ]);
      expect(await list({ executionId: 'run 1', kind: 'START' }, 2)).to.deep.equal(['a', 'd']);
      expect(await list({ executionId: 'run 3' }, 2)).to.deep.equal([]);
    }
  });

  it('end a page after 2 MiB of texts; the pages have each event once', async () => {
    const [now, megabyte] = [Date.now(), 1024 * 1024];
    const texts = Array.from({ length: 50 }, (_, index) => ({
      createdAt: now + index,
      description: String(index),
      errorDescription: 'x'.repeat(100_000),
    }));
    await store(...texts);
    const { items, next } = await record.listEvents('acme', {}, { limit: 500 });
    expect(items.length * 100_000).to.be.within(2 * megabyte, 3 * megabyte);
    expect(next).to.include({ id: items.at(-1)?.id });
    const all = texts.map(({ description }) => description);
    expect(await listed({}, 500)).to.deep.equal(all.toReversed());
    expect(await listed({ executionId: anEvent().executionId }, 500)).to.deep.equal(all);
    expect(await exported({}, 500)).to.deep.equal(all);
  });

  it('end a page with a position when the time for a search is used up', async () => {
    // A page of a search ends at midnight at the latest: noon is far from it.
    const events = Array.from({ length: 1_200 }, (_, index) => ({
      createdAt: noon - index * 1_000,
      description: String(index),
      kind: index === 1_199 ? ('END' as const) : ('EVENT' as const),
    }));
    await store(...events);
    record = createQueries(database.db, { ...defaultQueryOptions, searchMs: 0 });
    const filters: EventFilters = { kind: 'END', to: new Date(noon + 1) };
    const page = await record.listEvents('acme', filters, { limit: 50 });
    expect(page.items).to.deep.equal([]);
    expect(page.next).to.include({ createdAt: new Date(noon - 305_000).toISOString() });
    expect(await listed(filters)).to.deep.equal(['1199']);
  });

  it('find a text in every text of an event, in any letter case and form of Unicode', async () => {
    const decomposed = 'Cafe\u0301';
    await store(
      { description: `1 ${decomposed}`, createdAt: noon },
      { description: '2', errorId: 'SMTP-421', kind: 'ERROR', createdAt: noon + 1 },
      { description: '3', errorDescription: 'ΌΔΟΣ STRASSE', kind: 'ERROR', createdAt: noon + 2 },
      { description: '4', executionId: 'ÜBER İstanbul', createdAt: noon + 3 },
      { description: '5 ﬁnal １００%', createdAt: noon + 4 },
    );
    for (const [q, found] of [
      ['CAFÉ', ['1 ' + decomposed]],
      ['café', ['1 ' + decomposed]],
      ['cafe\u0301', ['1 ' + decomposed]],
      ['smtp-421', ['2']],
      ['όδος straß', ['3']],
      ['über i\u0307stan', ['4']],
      ['FINAL 100%', ['5 ﬁnal １００%']],
      ['cafe ', []],
      ['smtp.421', []],
    ] as const) {
      const executions = await record.listExecutions('acme', { q }, { limit: 5 });
      expect(executions.items.length, q).to.equal(found.length);
      expect(await listed({ q }), q).to.deep.equal(found);
      expect(await exported({ q }), q).to.deep.equal(found);
    }
  });

  it('compare texts in Postgres as in code', async () => {
    const letter = fc.constantFrom(
      ...Array.from('aAſéÉe\u0301\u0327ßẞsStTσςΣΐİiIıöÖﬀ１½K\u212A.*[]\\^$-_%{}()|?+ \n🚀あが'),
    );
    const text = fc.string({ unit: letter, maxLength: 12 });
    // Three of these letters may be one and a half of others.
    const part = fc
      .string({ unit: letter, minLength: 1, maxLength: 4 })
      .filter((some) => !foldedText(some).includes('sss'));
    const pair = fc.oneof(
      fc.tuple(text, part),
      fc.tuple(text, part, text).map(([before, some, after]) => [before + some.toUpperCase() + after, some] as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { minLength: 20, maxLength: 20 }), async (pairs) => {
        const holds = pairs.map(([given, some]) => columnHoldsText(sql`${given}::text`, some));
        const { rows } = await sql<{ holds: boolean[] }>`select array[${sql.join(holds)}] as holds`.execute(
          database.db,
        );
        const expected = pairs.map(([given, some]) => holdsText(given, some));
        const wrong = pairs.filter((_, index) => rows[0]?.holds[index] !== expected[index]);
        expect(wrong).to.deep.equal([]);
      }),
      { numRuns: 100 },
    );
  });
});
