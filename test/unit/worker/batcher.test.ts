import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { storeMetrics } from '../../../internal/worker/worker-metrics.ts';
import { Batcher, type BatcherLimits } from '../../../internal/worker/batcher.ts';
import type { EventStore } from '../../../internal/worker/event-store.ts';
import { IsolatingStore } from '../../../internal/worker/isolating-store.ts';
import { roomyLimits } from '../../support/batcher-limits.ts';
import { anEvent } from '../../support/events.ts';
import { figure } from '../../support/rows.ts';
import { stopTimers } from '../../support/stopped-timers.ts';
import { until } from '../../support/until.ts';

const refusedByPostgres = Object.assign(new Error('refused'), { code: '22021' });

const archiveSilent = new Error('silent');
const isOfGlobex = ({ organization }: AcceptedEvent): boolean => organization === 'globex';

/** A store that shows faults which a real one cannot be made to show at will. */
function fakeStore(
  faults: {
    record?: (events: readonly AcceptedEvent[]) => Promise<void>;
    moveToDeadLetters?: () => Promise<void>;
  } = {},
) {
  const batches: AcceptedEvent[][] = [];
  const deadIds: string[] = [];
  const store: EventStore = {
    async recordEvents(events) {
      batches.push([...events]);
      await faults.record?.(events);
      return {
        stored: events.length,
        transitions: [{ organization: 'acme', from: 'none', to: 'running', executions: 1 }],
        anomalies: { start_missing: 0, start_repeated: 0, start_late: 0, event_after_end: 0 },
      };
    },
    async keepDeadLetter(event) {
      await faults.moveToDeadLetters?.();
      const isNew = !deadIds.includes(event.id);
      if (isNew) deadIds.push(event.id);
      return isNew;
    },
    isDataError: (error) => error === refusedByPostgres,
    waitingForArchive: (error) => (error === archiveSilent ? isOfGlobex : undefined),
  };
  return { store, batches, deadIds, sizes: () => batches.map(({ length }) => length) };
}

function createBatcher(store: EventStore, limits: Partial<BatcherLimits> = {}) {
  const { registry, logger } = createTelemetry('worker', 'silent');
  const metrics = storeMetrics(registry);
  const isolating = new IsolatingStore(store, metrics, logger);
  const batcher = new Batcher(isolating, { ...roomyLimits, ...limits }, metrics, logger);
  return { batcher, count: (name: string, labels = {}) => figure(registry, `runledger_${name}`, labels) };
}

const some = (count: number, fields: Partial<AcceptedEvent> = {}): AcceptedEvent[] =>
  Array.from({ length: count }, () => anEvent(fields));

describe('batcher', () => {
  it('makes one statement of what arrives together, and of what arrives during a statement the next', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { store, batches, sizes } = fakeStore({ record: () => (batches.length === 1 ? promise : Promise.resolve()) });
    const { batcher, count } = createBatcher(store);
    const first = [batcher.add(some(2)), batcher.add(some(3))];
    await until('the first statement', () => batches.length === 1);
    const second = [batcher.add(some(1)), batcher.add(some(1))];
    resolve();
    expect(await Promise.all([...first, ...second])).to.deep.equal(Array(4).fill('stored'));
    expect(sizes()).to.deep.equal([5, 2]);
    expect(await count('events_stored_total')).to.equal(7);
    expect(await count('execution_transitions_total', { from: 'none', to: 'running' })).to.equal(2);
  });

  it('lets an interval pass between statements, unless a batch is full or nothing came before', async () => {
    const { store, sizes } = fakeStore();
    const { batcher } = createBatcher(store, { batchEvents: 3, intervalMs: 60_000 });
    await batcher.add(some(1));
    await batcher.add(some(3));
    const waiting = batcher.add(some(1));
    await Promise.all([batcher.add(some(2)), waiting]);
    expect(sizes()).to.deep.equal([1, 3, 3]);

    const { batcher: filled } = createBatcher(store, { jobs: 2, intervalMs: 60_000 });
    await filled.add(some(1));
    await Promise.all([filled.add(some(1)), filled.add(some(1))]);
    expect(sizes().slice(3)).to.deep.equal([1, 2]);
  });

  it('waits for no interval when it gives back what it has', async () => {
    const { store, batches } = fakeStore();
    const { batcher } = createBatcher(store, { intervalMs: 60_000 });
    await batcher.add(some(1));
    const waiting = batcher.add(some(1));
    batcher.abandon();
    expect(await waiting).to.equal('abandoned');
    expect(batches).to.have.lengthOf(1);
  });

  it('gives back the jobs of organizations that have moved, and stores the others of the statement', async () => {
    const moved = new Set(['acme']);
    const isOfAcme = ({ organization }: AcceptedEvent): boolean => organization === 'acme';
    const record = (events: readonly AcceptedEvent[]): Promise<void> =>
      events.some(isOfAcme) ? Promise.reject(new Error('moved')) : Promise.resolve();
    const { store, sizes } = fakeStore({ record });
    const { batcher } = createBatcher(store, { movedBecauseOf: () => moved });
    const jobs = [some(1, { organization: 'globex' }), [...some(2), ...some(1, { organization: 'globex' })]];
    const results = await Promise.all(jobs.map((events) => batcher.add(events)));
    expect(results).to.deep.equal(['stored', moved]);
    expect(sizes()).to.deep.equal([4, 1]);
  });

  it('postpones the jobs whose events wait for the archive, at once for a while, and stores the others', async () => {
    const record = (events: readonly AcceptedEvent[]): Promise<void> =>
      events.some(isOfGlobex) ? Promise.reject(archiveSilent) : Promise.resolve();
    const { store, sizes } = fakeStore({ record });
    const { batcher } = createBatcher(store);
    const mixed = [...some(1), ...some(1, { organization: 'globex' })];
    expect(await Promise.all([batcher.add(mixed), batcher.add(some(3))])).to.deep.equal(['postponed', 'stored']);
    expect(await batcher.add(mixed)).to.equal('postponed');
    expect(sizes()).to.deep.equal([5, 3]);
  });

  it('withdraws its jobs, and repeats the statement under way until it succeeds', async () => {
    let away = true;
    const { store, batches } = fakeStore({
      record: () => (away ? Promise.reject(new Error('away')) : Promise.resolve()),
    });
    const { batcher } = createBatcher(store, { statementsInFlight: 1 });
    const first = batcher.add(some(1));
    await until('a repetition', () => batches.length > 1);
    const second = batcher.add(some(1));
    batcher.withdraw();
    expect(await Promise.all([first, second])).to.deep.equal(['withdrawn', 'withdrawn']);
    expect([batcher.idle, batcher.retrying]).to.deep.equal([false, true]);
    away = false;
    await until('it stores again', () => batcher.storedBatches === 1);
    expect(await batcher.add(some(1))).to.equal('stored');
    await until('all is done', () => batcher.idle);
  });

  it('bounds statements by events and by bytes, and splits a job only by bytes', async () => {
    const { store, sizes } = fakeStore();
    const { batcher } = createBatcher(store, { batchEvents: 5, batchBytes: 10_000 });
    const jobs = [
      some(3),
      some(2),
      some(9),
      some(1, { description: 'x'.repeat(7_000) }),
      some(1, { errorDescription: 'x'.repeat(4_000) }),
      // A character beyond U+00FF makes a text twice as large.
      some(5, { description: `✓${'x'.repeat(2_000)}` }),
    ];
    expect(await Promise.all(jobs.map((events) => batcher.add(events)))).to.deep.equal(Array(6).fill('stored'));
    expect(sizes()).to.deep.equal([5, 9, 1, 1, 2, 2, 1]);
  });

  it('makes a statement of one organization where its events nearly fill one, oldest first', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { store, batches } = fakeStore({ record: () => (batches.length === 1 ? promise : Promise.resolve()) });
    const { batcher } = createBatcher(store);
    const first = batcher.add(some(1));
    await until('the first statement', () => batches.length === 1);
    const of = (organization: string, count: number) => some(count, { organization });
    const jobs = [
      [...of('acme', 40), ...of('globex', 40), ...of('initech', 5)],
      of('initech', 20),
      [...of('globex', 30), ...of('acme', 40)],
    ];
    const added = jobs.map((events) => batcher.add(events));
    resolve();
    expect(await Promise.all([first, ...added])).to.deep.equal(Array(4).fill('stored'));
    const held = batches.slice(1).map((batch) => Object.entries(Object.groupBy(batch, (event) => event.organization)));
    const counts = held.map((batch) => Object.fromEntries(batch.map(([name, events]) => [name, events?.length])));
    expect(counts).to.deep.equal([{ acme: 80 }, { globex: 70, initech: 25 }]);
  });

  it('counts each event once, if one of the statements of a job fails once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let failures = 0;
    const { store, batches, sizes } = fakeStore({
      record: async (events) => {
        if (batches.length === 1) return promise;
        if (events.some(isOfGlobex) && (failures += 1) === 1) throw new Error('terminated');
      },
    });
    const { batcher, count } = createBatcher(store);
    const first = batcher.add(some(1));
    await until('the first statement', () => batches.length === 1);
    const both = batcher.add([...some(80), ...some(80, { organization: 'globex' })]);
    resolve();
    expect(await Promise.all([first, both])).to.deep.equal(['stored', 'stored']);
    expect(sizes()).to.deep.equal([1, 80, 80, 80]);
    expect([await count('events_stored_total'), await count('events_duplicate_total')]).to.deep.equal([161, 0]);
  });

  it('gives a job back unless all of its statements have succeeded', async () => {
    const { store, sizes } = fakeStore({
      record: (events) =>
        events.some(({ kind }) => kind === 'END') ? Promise.reject(new Error('moved')) : Promise.resolve(),
    });
    const moved = new Set(['acme']);
    const { batcher } = createBatcher(store, { batchBytes: 1_000, movedBecauseOf: () => moved });
    const large = some(3, { description: 'x'.repeat(900) });
    expect(await batcher.add([...large, anEvent({ kind: 'END' })])).to.equal(moved);
    expect(await batcher.add(large)).to.equal('stored');
    expect(sizes()).to.have.length.above(4);
  });

  it('isolates bad events with few statements, and stores their neighbours', async () => {
    const events = some(64);
    const bad = new Set([events[5], events[40]]);
    const { store, batches, deadIds } = fakeStore({
      record: (batch) =>
        batch.some((event) => bad.has(event)) ? Promise.reject(refusedByPostgres) : Promise.resolve(),
    });
    const { batcher, count } = createBatcher(store);
    expect(await batcher.add(events)).to.equal('stored');
    expect(deadIds).to.deep.equal([events[5]?.id, events[40]?.id]);
    expect(await count('events_stored_total')).to.equal(62);
    expect(await count('events_dead_lettered_total', { reason: '22021' })).to.equal(2);
    expect(batches.length).to.be.lessThan(26);
  });

  it('continues where Postgres became unavailable during isolation', async () => {
    let burials = 0;
    const [bad] = some(1);
    const { store, deadIds } = fakeStore({
      record: (batch) => (batch.some((event) => event === bad) ? Promise.reject(refusedByPostgres) : Promise.resolve()),
      moveToDeadLetters: () => ((burials += 1) < 3 ? Promise.reject(new Error('terminated')) : Promise.resolve()),
    });
    const { batcher } = createBatcher(store);
    expect(await batcher.add([...some(3), ...(bad === undefined ? [] : [bad])])).to.equal('stored');
    expect(deadIds).to.deep.equal([bad?.id]);
  });

  it('counts a dead letter once, and as a duplicate when it comes again', async () => {
    const { store } = fakeStore({ record: () => Promise.reject(refusedByPostgres) });
    const { batcher, count } = createBatcher(store);
    const bad = some(1);
    await batcher.add(bad);
    await batcher.add(bad, true);
    const counts = ['events_dead_lettered_total', 'events_duplicate_total', 'events_redelivered_total'];
    expect(await Promise.all(counts.map((name) => count(name)))).to.deep.equal([1, 1, 1]);
  });

  it('gives everything back when it is told to: held, waiting, under way without an answer, and added later', async () => {
    const forever = new Promise<void>(() => undefined);
    const { store, batches } = fakeStore({
      record: () => (batches.length === 1 ? forever : Promise.reject(new Error('away'))),
    });
    const { batcher } = createBatcher(store, {
      statementsInFlight: 2,
      batchEvents: 1,
      retryMinMs: 60_000,
      retryMaxMs: 60_000,
    });
    const added = [batcher.add(some(1)), batcher.add(some(1)), batcher.add(some(1))];
    await until('one is held', () => batcher.retrying);
    batcher.abandon();
    batcher.abandon();
    expect(await Promise.all([...added, batcher.add(some(1))])).to.deep.equal(Array(4).fill('abandoned'));
  });

  it('has nothing to do for a job without events', async () => {
    const { store, batches } = fakeStore();
    expect(await createBatcher(store).batcher.add([])).to.equal('stored');
    expect(batches).to.deep.equal([]);
  });
});

describe('the pace of the batcher', () => {
  const tick = stopTimers();

  it('makes one statement of what comes within the interval, and lets the whole of it pass', async () => {
    const { store, sizes } = fakeStore();
    const { batcher } = createBatcher(store, { intervalMs: 60_000 });
    await batcher.add(some(1));
    const together = [batcher.add(some(1))];
    await turn();
    together.push(batcher.add(some(1)));
    tick(50_000);
    await turn();
    expect(sizes()).to.deep.equal([1]);
    tick(10_000);
    await Promise.all(together);
    expect(sizes()).to.deep.equal([1, 2]);
  });
});
