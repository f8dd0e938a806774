import { hash } from 'node:crypto';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { eventKinds } from '../../../internal/event/schema.ts';
import { compactBefore } from '../../../internal/store/compacted/compact.ts';
import { openPostgres, type Database } from '../../../internal/store/database.ts';
import { isDataError } from '../../../internal/store/errors.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { compactAll, countPlaces, everyRow, expectRight, smallBlocks } from '../../support/compacted.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { day } from '../../support/maintenance-day.ts';
import { query } from '../../support/postgres-server.ts';
import { eachDatabase, migratedDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const hottest = Date.now() + day;

/** Executions whose events are accepted more than 20 days later stay rows. */
const start = Date.now() - 16 * day;

const isCompacted = async (db: Database, executionId: string): Promise<boolean> =>
  (await db.selectFrom('executions').select('execution_id').where('execution_id', '=', executionId).execute())
    .length === 0;

/** The events of a run of an hour, so many hours after the start. They are accepted just now. */
const aRun = (hours: number, given: Partial<AcceptedEvent> = {}): AcceptedEvent[] =>
  (['START', 'EVENT', 'END'] as const).map((kind, at) =>
    anEvent({ kind, executionId: `run ${hours}`, occurredAt: start + hours * 3_600_000 + at * 1_800_000, ...given }),
  );

const hoursOf = (executionId: string): number => Number(executionId.split(' ')[1]);

/** An event of a run, `minutes` after its START. */
const late = (executionId: string, minutes: number, given: Partial<AcceptedEvent> = {}): AcceptedEvent =>
  anEvent({ executionId, occurredAt: start + hoursOf(executionId) * 3_600_000 + minutes * 60_000, ...given });

/** As a worker, which tries again whenever Postgres refuses a batch but not its data. */
const recordAsWorkers = async (db: Database, events: readonly AcceptedEvent[]): Promise<void> => {
  for (;;) {
    try {
      await recordEvents(db, events);
      return;
    } catch (error) {
      if (isDataError(error)) throw error;
    }
  }
};

/** True once somebody waits for a lock in a database. */
const waits = async (url: string): Promise<boolean> =>
  (await query(url, `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
    .length > 0;

/**
 * The database; after its statement of a number something else happens, until it is done or waits
 * for a lock. `happened` resolves when it is done; it is undefined if there are fewer statements.
 */
function meeting(
  { db, url }: { db: Database; url: string },
  number: number,
  what: () => Promise<unknown>,
): { db: Database; happened: () => Promise<unknown> | undefined } {
  let left = number;
  let happened: Promise<unknown> | undefined;
  const met = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      left -= 1;
      if (left !== 0) return result;
      let isDone = false;
      happened = what().finally(() => (isDone = true));
      await Promise.race([happened, until('it is done or waits', async () => isDone || (await waits(url)))]);
      return result;
    },
  });
  return { db: met, happened: () => happened };
}

/** Some of the ids are UUIDs. */
const idOf = (at: number): string =>
  at % 3 === 0 ? `run ${at}` : `0190a0b0-0000-7000-8000-${String(at).padStart(12, '0')}`;

/** When those of {@link someEvent} begin. */
const firstOfSome = Date.parse('2026-11-20T12:00:00Z');

/** Events of forty executions over two weeks. */
const someEvents = fc.array(someEvent, { minLength: 100, maxLength: 200 }).map((events) =>
  events.map(({ occurredAt, ...event }, at): AcceptedEvent => {
    const run = at % 40;
    const shift = start - firstOfSome + (run % 14) * day;
    const occurred = occurredAt && Math.max(occurredAt, event.createdAt - day) + shift;
    return {
      ...event,
      executionId: idOf(run),
      createdAt: event.createdAt + shift,
      ...(occurred && { occurredAt: occurred }),
    };
  }),
);

/** The same event, accepted now: it occurred days ago. */
const acceptedNow = ({ createdAt, ...event }: AcceptedEvent): AcceptedEvent =>
  anEvent({ ...event, occurredAt: createdAt, createdAt: Date.now() });

describe('compacted executions', function suite() {
  this.timeout(120_000);
  const database = eachDatabase();

  it('are the same executions, whatever comes late and however often they are compacted', async () => {
    const property = fc.asyncProperty(fc.array(someEvents, { minLength: 2, maxLength: 4 }), async (rounds) => {
      await using fresh = await migratedDatabase();
      const { db } = fresh;
      const stored: AcceptedEvent[] = [];
      for (const events of rounds) {
        // Some of the last round come again.
        await recordEvents(db, [...events, ...stored.slice(-20)]);
        stored.push(...events);
        const before = await everyRow(db);
        await compactAll(db);
        expect(await everyRow(db)).to.deep.equal(before);
        await expectRight(db, stored);
        expect((await countPlaces(db)).compacted).to.be.above(15);
      }
    });
    await fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 3), endOnFailure: true });
  });

  it('are made for a while only: a run says that it has not finished, and the next one goes on', async () => {
    const { db } = database;
    await recordEvents(db, Array.from({ length: 10 }, (_, hours) => aRun(hours)).flat());
    const first = '0190a0b0-0000-7000-8000-000000000000';
    await recordEvents(db, Array.from({ length: 70 }, (_, hours) => aRun(hours, { automationId: first })).flat());
    const run = (after?: { organization: string; automation_id: string }) =>
      compactBefore(db, hottest, { ...smallBlocks, patienceMs: -1 }, after);
    // Twenty blocks of three in a transaction, and then its time is over.
    const unfinished = { before: hottest, isDone: false, after: undefined };
    expect(await run()).to.deep.equal({ executions: 60, progress: unfinished });
    const done = { ...unfinished, isDone: true };
    expect(await run()).to.deep.equal({ executions: 18, progress: done });
    expect(await run({ organization: 'acme', automation_id: first })).to.deep.equal({ executions: 0, progress: done });
    expect(await countPlaces(db)).to.deep.equal({ rows: 2, compacted: 78, keys: 78 });
  });

  for (const kind of eventKinds) {
    it(`take a late ${kind} as if they were rows, and leave other blocks as they are`, async () => {
      const { db } = database;
      await using other = await migratedDatabase();
      const runs = Array.from({ length: 7 }, (_, hours) => aRun(hours));
      const withoutStart = runs.flat().filter((event) => event.executionId !== 'run 1' || event.kind !== 'START');
      const stored = [...withoutStart];
      for (const each of [db, other.db]) await recordEvents(each, withoutStart);
      for (const [executionId, minutes] of [
        ['run 1', -30],
        ['run 0', 45],
        ['run 2', 90],
      ] as const) {
        await compactAll(db);
        expect(await countPlaces(db)).to.deep.equal({ rows: 1, compacted: 6, keys: 6 });
        const event = late(executionId, minutes, { kind });
        expect(await recordEvents(db, [event])).to.deep.equal(await recordEvents(other.db, [event]));
        stored.push(event);
        expect(await isCompacted(db, executionId)).to.equal(false);
        expect(await countPlaces(db)).to.deep.equal({ rows: 4, compacted: 3, keys: 3 });
        await expectRight(db, stored);
      }
    });
  }

  it('can have any id and any count', async () => {
    const { db } = database;
    const uuid = '0190a0b0-0000-7000-8000-00000000000a';
    const ids = [
      uuid,
      uuid.toUpperCase(),
      `{${uuid}}`,
      `${uuid}\n`,
      uuid.replaceAll('-', ''),
      ` ${uuid}`,
      '{}',
      'null',
      ' ',
    ];
    const characters = Array.from({ length: 0x110000 }, (_, point) => point).filter(
      (point) => point > 0 && (point < 0xd800 || point > 0xdfff),
    );
    for (let first = 0; first < characters.length; first += 255) {
      ids.push(String.fromCodePoint(...characters.slice(first, first + 255)));
    }
    const events = ids.flatMap((executionId, at) => aRun(at / 100, { executionId }));
    await recordEvents(db, events);
    await sql`update executions set event_count = 2000000000 where execution_id = ${uuid}`.execute(db);
    const before = await everyRow(db);
    await compactBefore(db, hottest, { newest: 1, block: 100 });
    expect((await countPlaces(db)).compacted).to.be.above(4_000);
    expect(await everyRow(db)).to.deep.equal(before);
    const more = ids.map((executionId, at) =>
      anEvent({ executionId, occurredAt: start + at * 36_000, kind: 'WARNING' }),
    );
    await recordEvents(db, more);
    expect(await countPlaces(db)).to.deep.equal({ rows: ids.length, compacted: 0, keys: 0 });
    await sql`update executions set event_count = 1 where execution_id = ${uuid}`.execute(db);
    await expectRight(db, [...events, ...more]);
  });

  it('leave a new execution alone whose key is that of one of them', async () => {
    const { db } = database;
    const ids = new Map<string, string>();
    let twins: [string, string] | undefined;
    for (let at = 0; twins === undefined; at += 1) {
      const key = hash('sha256', `twin ${at}`).slice(0, 8);
      const known = ids.get(key);
      if (known !== undefined) twins = [known, `twin ${at}`];
      ids.set(key, `twin ${at}`);
    }
    const [one, other] = twins;
    const stored = [0, 1, 2, 3].flatMap((hours) => aRun(hours, hours === 1 ? { executionId: one } : {}));
    await recordEvents(db, stored);
    await compactAll(db);
    const events = aRun(5, { executionId: other });
    // A transaction of a caller could not be repeated.
    await db.transaction().execute((trx) => recordEvents(trx, events.slice(0, 1)));
    await recordEvents(db, events.slice(1));
    expect(await countPlaces(db)).to.deep.equal({ rows: 2, compacted: 3, keys: 3 });
    const last = aRun(6);
    await recordEvents(db, last);
    await compactBefore(db, hottest, { newest: 1, block: 1 });
    await expectRight(db, [...stored, ...events, ...last]);
  });

  it('may have begun at the same time, unless too many did: those stay rows', async () => {
    const { db } = database;
    const stored = [
      ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].flatMap((executionId) => aRun(1, { executionId })),
      ...Array.from({ length: 13 }, (_, at) => aRun(2, { executionId: `tied ${at}` })).flat(),
      ...[3, 4, 5, 6].flatMap((hours) => aRun(hours)),
    ];
    await recordEvents(db, stored);
    for (let time = 0; time < 2; time += 1) {
      await compactAll(db);
      expect(await countPlaces(db)).to.deep.equal({ rows: 14, compacted: 10, keys: 10 });
      await expectRight(db, stored);
    }
    const event = late('run 4', -150);
    await recordEvents(db, [event]);
    await compactAll(db);
    await expectRight(db, [...stored, event]);
  });

  it('are found by a worker that waited for the compaction, and by two at once', async () => {
    const { db, url } = database;
    const stored = [0, 1, 2, 3].flatMap((hours) => aRun(hours));
    await recordEvents(db, stored);
    // A new block waits for the end of this test's own transaction.
    await query(
      url,
      `create function wait() returns trigger language plpgsql set lock_timeout = 0 as $$
         begin perform pg_advisory_xact_lock(7); return null; end $$;
       create trigger waits after insert on compacted_executions execute function wait()`,
    );
    const events = (['ERROR', 'WARNING'] as const).map((kind) => late('run 1', 30, { kind }));
    const workers: ReturnType<typeof recordEvents>[] = [];
    let compaction: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(7)`.execute(trx);
      compaction = compactAll(db);
      for (let waiting = 1; waiting <= 3; waiting += 1) {
        await until(`${waiting} wait`, async () => {
          const rows = await query(
            url,
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return rows.length === waiting;
        });
        const event = events[waiting - 1];
        if (event !== undefined) workers.push(recordEvents(db, [event]));
      }
    });
    await compaction;
    const transitions = (await Promise.all(workers)).flatMap((batch) => batch.transitions);
    expect(transitions).to.deep.equal([{ organization: 'acme', from: 'succeeded', to: 'failed', executions: 1 }]);
    expect(await countPlaces(db)).to.deep.equal({ rows: 4, compacted: 0, keys: 0 });
    await expectRight(db, [...stored, ...events]);
  });

  it('are not made of executions that a worker changes just now, and nobody waits for it', async () => {
    const { db } = database;
    const stored = [0, 1, 2, 3, 4].flatMap((hours) => aRun(hours));
    await recordEvents(db, stored);
    const event = late('run 2', -90);
    await db.transaction().execute(async (trx) => {
      await recordEvents(trx, [event]);
      await compactBefore(db, hottest, { newest: 1, block: 4 });
    });
    expect(await countPlaces(db)).to.deep.equal({ rows: 2, compacted: 3, keys: 3 });
    await expectRight(db, [...stored, event]);
    await compactBefore(db, hottest, { newest: 1, block: 4 });
    expect(await countPlaces(db)).to.deep.equal({ rows: 1, compacted: 4, keys: 4 });
    await expectRight(db, [...stored, event]);
  });

  it('take an event that comes between any two statements of their compaction', async () => {
    for (let statement = 1; ; statement += 1) {
      await using fresh = await migratedDatabase();
      const stored = [0, 1, 2, 3, 4, 5, 6].flatMap((hours) => aRun(hours));
      await recordEvents(fresh.db, stored);
      await compactAll(fresh.db);
      // They lie in the times of a block, which the next compaction makes anew.
      const between = [1.25, 1.5].flatMap((hours) => aRun(hours));
      // One moves before the block before it, and one after it has got another state.
      const events = [late('run 4', -170), late('run 1.5', 10, { kind: 'ERROR' }), late('run 1', -70)];
      await recordEvents(fresh.db, between);
      const met = meeting(fresh, statement, () => recordEvents(fresh.db, events));
      await compactAll(met.db);
      const happened = met.happened();
      if (happened === undefined) {
        expect(statement).to.be.above(10);
        return;
      }
      await happened;
      await expectRight(fresh.db, [...stored, ...between, ...events]);
      await compactAll(fresh.db);
      await expectRight(fresh.db, [...stored, ...between, ...events]);
    }
  });

  it('may be compacted, or become rows for another worker, between any two statements of a worker', async () => {
    for (let statement = 1; ; statement += 1) {
      await using fresh = await migratedDatabase();
      const stored = [0, 1, 2, 3, 4, 5, 6, 1.5].flatMap((hours) => aRun(hours));
      await recordEvents(fresh.db, stored);
      await compactAll(fresh.db);
      const events = [late('run 4', -170), late('run 1', 30, { kind: 'ERROR' }), ...aRun(0.5)];
      const others = [
        late('run 5', 30),
        late('run 1', -90),
        late('run 2', 10, { kind: 'WARNING' }),
        ...events.slice(1),
      ];
      const met = meeting(fresh, statement, async () => {
        await recordEvents(fresh.db, others);
        await compactAll(fresh.db);
      });
      const batch = await recordEvents(met.db, events);
      const happened = met.happened();
      if (happened === undefined) {
        expect(statement).to.be.above(8);
        return;
      }
      await happened;
      expect(batch.stored).to.be.within(1, events.length);
      await expectRight(fresh.db, [...stored, ...events, ...others]);
    }
  });

  it('are the same executions while workers and the compaction race', async () => {
    const { db, url } = database;
    // Says for whom blocks became rows.
    await query(
      url,
      `create table expanded (by text);
       create function note() returns trigger language plpgsql as $$
         begin insert into expanded values (current_setting('application_name')); return null; end $$;
       create trigger notes after delete on compacted_executions for each row execute function note()`,
    );
    await using maintained = openPostgres({
      url,
      maxConnections: 2,
      statementTimeout: 10_000,
      applicationName: 'compaction',
      onIdleError: () => undefined,
      onNotDurable: () => undefined,
    });
    // Some are accepted just now, and some on a day that may be cold.
    const rounds = fc
      .sample(someEvents, Number(process.env['RUNS'] ?? 3) * 10)
      .map((events, round) => (round % 2 === 0 ? events : events.map(acceptedNow)));
    const stored = rounds.flat();
    // As many compactions as batches: without an end, they could always overtake a batch.
    const work = async (): Promise<void> => {
      for (let round = rounds.pop(); round !== undefined; round = rounds.pop()) {
        const middle = Math.ceil(round.length / 2);
        const halves = [round.slice(0, middle + 10), round.slice(middle - 10)];
        const recorded = halves.map((half) => recordAsWorkers(db, half));
        await Promise.all([...recorded, compactAll(maintained)]);
      }
    };
    await Promise.all([work(), work()]);
    await expectRight(db, stored);
    await compactAll(db);
    await expectRight(db, stored);
    const expanded = new Set((await query(url, 'select distinct by from expanded')).map((row) => row['by']));
    expect(expanded).to.deep.equal(new Set(['test', 'compaction']));
  });
});
