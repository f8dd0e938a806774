import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { followDeclarations } from '../../../cmd/controller/declarations.ts';
import type { DeclaredAutomation } from '../../../internal/controller/declarations/declarations.ts';
import { executionsWithId } from '../../../internal/store/compacted/expanded.ts';
import { cleanOrganization } from '../../../internal/store/organizations/move/clean.ts';
import { cancelMove, moveOrganization } from '../../../internal/store/organizations/move/move.ts';
import { readAct } from '../../../internal/ledger/act.ts';
import { actKeyOf } from '../../../internal/ledger/mac.ts';
import { Residents } from '../../../internal/store/organizations/residents.ts';
import { readPlaces } from '../../../internal/store/organizations/organization-map.ts';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { MaintenanceReport } from '../../../internal/event/outcome/maintenance-report.ts';
import { Acts, type NewAct } from '../../../internal/store/acts/acts.ts';
import { readMutes } from '../../../internal/store/acts/read-mutes.ts';
import { recordActs } from '../../../internal/store/acts/record-acts.ts';
import { ConsoleAutomations } from '../../../internal/store/console-automations.ts';
import { ConsoleChannels } from '../../../internal/store/console-channels.ts';
import { readClock } from '../../../internal/store/clock.ts';
import type { Database } from '../../../internal/store/database.ts';
import { keepDeadLetter } from '../../../internal/store/dead-letters.ts';
import { NoticeBook } from '../../../internal/controller/notify/notice-book.ts';
import { Outbox } from '../../../internal/controller/notify/outbox.ts';
import { alertsToTell } from '../../../internal/controller/notify/told-alerts.ts';
import { advisoryLocks } from '../../../internal/store/advisory-locks.ts';
import { movedOrganizations } from '../../../internal/store/errors.ts';
import { isOnMove } from '../../../internal/store/organizations/here.ts';
import { beginMove, readMove } from '../../../internal/store/organizations/move/fence.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { dayOf } from '../../../internal/store/partitions/days.ts';
import { lockEvents, makeDefaultThePartitionOf } from '../../../internal/store/partitions/partitions.ts';
import { sql } from '../../../internal/store/sql.ts';
import { createStore } from '../../../internal/store/store.ts';
import { untilUnlocked } from '../../../internal/store/until-unlocked.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { compactAll, countPlaces, everyRow } from '../../support/compacted.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { killedAt } from '../../support/killed-at.ts';
import { day } from '../../support/maintenance-day.ts';
import { declare, declareChannel, invoices, storeAlert, transition } from '../../support/notify/expectations.ts';
import { executionsOf } from '../../support/outcome-oracle.ts';
import { headOf, idsInLog, macKey, seal, withLeaves } from '../../support/sealed-ledger.ts';
import { PgBouncer } from '../../support/pgbouncer.ts';
import { PostgresServer, query } from '../../support/postgres-server.ts';
import {
  migrate,
  openDatabase,
  openSession,
  storedEvents,
  storedExecutions,
  wrongRunning,
} from '../../support/store.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';
import { place, twoDatabases, type TwoDatabases } from '../../support/two-databases.ts';

const { logger } = createTelemetry('move', 'silent');

function declaredIn(organization: string): DeclaredAutomation {
  const named = { namespace: organization, name: 'nightly', displayName: '', owner: '' };
  const rest = { tags: [], links: [], expect: undefined, alertLabels: {}, suspend: false };
  return { organization, automationId: invoices, uid: organization, generation: 1, ...named, ...rest };
}

/** The database; something happens once, when it has answered the first statement with a text. */
function afterStatement(db: Database, text: string, happens: () => Promise<unknown>): Database {
  let asked: object | undefined;
  return db.withPlugin({
    transformQuery({ node, queryId }) {
      if (node.kind === 'RawNode' && node.sqlFragments.join('').includes(text)) asked ??= queryId;
      return node;
    },
    async transformResult({ result, queryId }) {
      if (queryId === asked) await happens();
      return result;
    },
  });
}

/** The database, whose first raw statement with a text fails. */
function failingAt(db: Database, text: string): Database {
  let failed = false;
  return db.withPlugin({
    transformQuery({ node }) {
      if (!failed && node.kind === 'RawNode' && node.sqlFragments.join('').includes(text)) {
        failed = true;
        throw new Error('killed');
      }
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
}

async function slotsAndPublications(db: Database): Promise<unknown[]> {
  const { rows } = await sql`
    select slot_name::text as name from pg_replication_slots where database = current_database()
    union all select pubname from pg_publication
  `.execute(db);
  return rows;
}

/** Nobody listens on port 1: the subscriptions of a database lose their source. */
async function disconnect({ db, url }: { db: Database; url: string }): Promise<void> {
  const subscriptions = sql<{ name: string }>`
    select subname as name from pg_subscription
    where subdbid = (select oid from pg_database where datname = current_database())
  `;
  const nowhere = Object.assign(new URL(url), { port: '1' }).href;
  for (const { name } of (await subscriptions.execute(db)).rows) {
    await sql`alter subscription ${sql.id(name)} connection ${sql.lit(nowhere)}`.execute(db);
  }
}

describe('a move of an organization', function () {
  this.timeout(180_000);
  let databases: TwoDatabases;
  const ofAcme = (fields: Partial<AcceptedEvent> = {}) => anEvent({ organization: 'acme', ...fields });
  const options = (byName: ReadonlyMap<string, Database> = databases.byName) => {
    const named = Array.from(
      databases.named,
      ([name, one]) => [name, { ...one, db: byName.get(name) ?? one.db }] as const,
    );
    return { databases: new Map(named), organization: 'acme', logger };
  };
  const nameOf = async (): Promise<string> => (await readPlaces(databases.first.db)).get('acme')?.database ?? 'first';
  const open = (name: string): Database => databases.byName.get(name) ?? databases.first.db;
  beforeEach(async () => {
    databases = await twoDatabases();
  });
  afterEach(() => databases[Symbol.asyncDispose]());

  it('has each event once and each outcome right, wherever it is killed and run again', async () => {
    const all: AcceptedEvent[] = [];
    const refused: AcceptedEvent[] = [];
    /** As a worker with an old map: what a database refuses, it stores later. */
    const store = async (events: AcceptedEvent[]): Promise<void> => {
      all.push(...events);
      for (const event of events) {
        await recordEvents(open(await nameOf()), [event]).catch((error: unknown) => {
          expect(movedOrganizations(error)).to.deep.equal(new Set(['acme']));
          refused.push(event);
        });
      }
    };
    const some = (run: string) => [
      ofAcme({ executionId: run, kind: 'START' }),
      ofAcme({ executionId: run, kind: 'END' }),
      ofAcme({ executionId: 'all', kind: 'WARNING' }),
    ];
    /** As an owner whose console may have an old map, and workers of both databases. */
    const acts: string[] = [];
    const act = async (): Promise<void> => {
      const id = randomUUID();
      acts.push(id);
      const mute = { kind: 'mute', automationId: undefined, until: new Date('2099-01-01'), window: undefined } as const;
      const note = { organization: 'acme', id, by: 'Olga', note: 'x', ...mute };
      await new Acts(() => databases.first.db).add(note).catch(async (error: unknown) => {
        expect(error).to.include({ code: 'unavailable' });
        await new Acts(() => databases.eu.db).add(note).catch(() => acts.pop());
      });
      for (const db of [databases.first.db, databases.eu.db]) {
        await recordActs(db, [], (error) => {
          throw error;
        });
      }
    };
    await store(some('first'));
    await act();
    await recordEvents(databases.first.db, [anEvent({ organization: 'globex' })]);
    let killed = true;
    for (let at = 1; killed; at += 9) {
      const target = (await nameOf()) === 'first' ? 'eu' : 'first';
      const counter = { left: at };
      const dying = new Map(Array.from(databases.byName, ([name, db]) => [name, killedAt(db, counter)]));
      killed = await moveOrganization(options(dying), target).then(
        () => false,
        () => true,
      );
      await store(some(`run ${at}`));
      await act();
      await moveOrganization(options(), target);
      const here = open(await nameOf());
      expect(await nameOf()).to.equal(target);
      await recordEvents(here, refused.splice(0));
      expect((await storedEvents(here)).filter(({ organization }) => organization === 'acme')).to.have.deep.members(
        all,
      );
    }
    const here = open(await nameOf());
    const mine = (await storedExecutions(here)).filter(({ organization }) => organization === 'acme');
    expect(mine).to.have.deep.members([...executionsOf(all).values()]);
    expect(await wrongRunning(here)).to.deep.equal([]);
    await act();
    const kept = await here.selectFrom('acts').select(['id', 'recorded_at']).execute();
    expect(kept.map(({ id }) => id)).to.have.members(acts);
    expect(kept.filter(({ recorded_at }) => recorded_at === null)).to.deep.equal([]);

    await cleanOrganization(options());
    const other = open((await nameOf()) === 'first' ? 'eu' : 'first');
    expect((await storedEvents(other)).filter(({ organization }) => organization === 'acme')).to.deep.equal([]);
    expect(await storedEvents(databases.first.db)).to.have.lengthOf(other === databases.first.db ? 1 : all.length + 1);
    expect(await failureOf(recordEvents(other, [ofAcme()]))).to.include({ code: 'RL001' });
  });

  it('takes along compacted executions: each is found there, and a late event of one counts', async () => {
    const { first, eu } = databases;
    const began = Date.now() - 10_000;
    const events = (['START', 'END'] as const).flatMap((kind, which) =>
      [1, 2, 3, 4].map((at) => ofAcme({ executionId: `run ${at}`, kind, createdAt: began + 10 * which + at })),
    );
    await recordEvents(first.db, events);
    await compactAll(first.db);
    const before = await everyRow(first.db);
    await moveOrganization(options(), 'eu');
    expect(await everyRow(eu.db)).to.deep.equal(before);
    expect(await countPlaces(eu.db)).to.deep.equal({ rows: 1, compacted: 3, keys: 3 });
    const { automationId } = ofAcme();
    const key = { organization: sql`'acme'`, automationId: sql`${automationId}::uuid`, executionId: sql`'run 2'` };
    expect((await executionsWithId(key).execute(eu.db)).rows).to.deep.equal([before[1]]);

    const late = ofAcme({ executionId: 'run 2', kind: 'ERROR' });
    await recordEvents(eu.db, [late]);
    expect(await countPlaces(eu.db)).to.deep.equal({ rows: 4, compacted: 0, keys: 0 });
    expect(await storedExecutions(eu.db)).to.have.deep.members([...executionsOf([...events, late]).values()]);
    await cleanOrganization(options());
    expect(await countPlaces(first.db)).to.deep.equal({ rows: 0, compacted: 0, keys: 0 });
  });

  it('takes along what owners did, wherever it is killed: it holds there, and is in the log once', async () => {
    const add = (db: Database, act: NewAct) => new Acts(() => db, [actKeyOf(macKey)]).add(act);
    const acme = () => ({ organization: 'acme', id: randomUUID(), by: 'Olga', note: 'x' });
    const record = async () => {
      for (const { db } of [databases.first, databases.eu]) {
        await recordActs(db, [macKey], (error) => {
          throw error;
        });
      }
    };
    const made: NewAct[] = [];
    /** A mute, an acknowledgement and a closing, where the organization is. */
    const act = async (executionId: string): Promise<void> => {
      const db = open(await nameOf());
      const { automationId } = ofAcme();
      const opened = transition('opened', { occurrence: executionId });
      await recordEvents(db, [ofAcme({ kind: 'START', executionId })], withLeaves);
      await storeAlert(db, opened);
      const acts: NewAct[] = [
        { ...acme(), kind: 'mute', automationId, until: new Date('2099-01-01'), window: undefined },
        { ...acme(), kind: 'acknowledge', alert: opened.alert.id },
        { ...acme(), kind: 'close', automationId, executionId, as: 'lost' },
      ];
      for (const one of acts) expect(await add(db, one), one.kind).to.equal(true);
      made.push(...acts);
    };
    let killed = true;
    for (let at = 1; killed; at += 25) {
      const target = (await nameOf()) === 'first' ? 'eu' : 'first';
      await act(`recorded before ${at}`);
      await record();
      await act(`recorded after ${at}`);
      const counter = { left: at };
      const dying = new Map(Array.from(databases.byName, ([name, db]) => [name, killedAt(db, counter)]));
      killed = await moveOrganization(options(dying), target).then(
        () => false,
        () => true,
      );
      await record();
      await moveOrganization(options(), target);
      await record();
    }
    const here = open(await nameOf());
    const kept = await here.selectFrom('acts').select(['id', 'recorded_at']).execute();
    expect(kept.map(({ id }) => id)).to.have.members(made.map(({ id }) => id));
    expect(kept.filter(({ recorded_at }) => recorded_at === null)).to.deep.equal([]);
    const of = (kind: NewAct['kind']) => made.filter((one) => one.kind === kind);
    const mutes = await readMutes(here, sql`now()`, [actKeyOf(macKey)], 'acme');
    expect(mutes.map(({ id }) => id)).to.have.members(of('mute').map(({ id }) => id));
    const acknowledged = here.selectFrom('acts').innerJoin('alerts', 'alerts.id', 'acts.about').select('acts.id');
    expect((await acknowledged.execute()).map(({ id }) => id)).to.have.members(of('acknowledge').map(({ id }) => id));
    const kinds = here.selectFrom('events').select('kind').execute();
    const counted = Object.groupBy(await kinds, ({ kind }) => kind);
    const runs = of('close').length;
    expect([counted.START?.length, counted.ERROR?.length, counted.END?.length]).to.deep.equal([runs, runs, runs]);
    await seal(here);
    const inLog = (await here.selectFrom('log_acts').select('act').execute()).map(({ act }) => readAct(act).kind);
    expect(
      Object.entries(Object.groupBy(inLog, (kind) => kind)).map(([kind, all]) => [kind, all?.length]),
    ).to.have.deep.members([
      ['muted', runs],
      ['alert-acknowledged', runs],
      ['run-closed', runs],
    ]);
    const leaves = await idsInLog(here);
    expect(new Set(leaves).size, 'each leaf once').to.equal(leaves.length);
    expect(leaves.length).to.equal(3 * runs + inLog.length);
  });

  it('takes along verdicts, alerts and what channels must still get, also under a publication for all tables', async () => {
    const { first, eu } = databases;
    for (const { db } of [first, eu]) await sql`create publication everything for all tables`.execute(db);
    await recordEvents(first.db, [ofAcme({ kind: 'START' })], withLeaves);
    await declare(first.db);
    await declare(first.db, { organization: 'globex' });
    await declareChannel(first.db, { url: 'https://receiver.example' });
    const opened = transition('opened');
    await storeAlert(first.db, opened);
    const told = (await alertsToTell(first.db, 'alertmanager')).map((alert) => ({ alert, problem: undefined }));
    await new NoticeBook(first.db, 'alertmanager').end(told);
    const outbox = new Outbox(undefined);
    await first.db
      .transaction()
      .execute((trx) => outbox.enqueueAlerts(trx, [opened, transition('resolved', { told: ['incidents'] })]));
    const until = new Date('2026-11-20T12:00:00Z');
    const state = { watermark: until, watermark_at: until, executions_until: until };
    await first.db.updateTable('controller_state').set(state).execute();
    const of = async (db: Database) => ({
      automations: await db.selectFrom('automations').select(['organization', 'name', 'declared_at']).execute(),
      channels: await db.selectFrom('channels').selectAll().execute(),
      alerts: await db.selectFrom('alerts').selectAll().execute(),
      notices: await db.selectFrom('alert_notices').selectAll().execute(),
      deliveries: await db.selectFrom('deliveries').select(['id', 'event']).orderBy('sequence').execute(),
    });
    const before = await of(first.db);
    const mine = before.automations.filter(({ organization }) => organization === 'acme');
    expect([before.notices.length, before.deliveries.length]).to.deep.equal([1, 2]);

    await moveOrganization(options(), 'eu');
    expect(await of(eu.db)).to.deep.equal({ ...before, automations: mine });
    expect(await of(first.db)).to.deep.equal({
      channels: [],
      alerts: [],
      notices: [],
      deliveries: [],
      automations: before.automations.filter(({ organization }) => organization === 'globex'),
    });
    const [there] = await eu.db.selectFrom('controller_state').selectAll().execute();
    expect(there).to.deep.include({ ...state, executions_behind: { acme: until.toISOString() } });

    // As after a move that died before it deleted them: the next tick does, and resolves nothing.
    await declare(first.db);
    await storeAlert(first.db, opened);
    const residents = new Residents('first', first.db);
    await first.db.transaction().execute((trx) => residents.prepare(trx));
    expect((await of(first.db)).alerts).to.deep.equal([]);
    const [acme, globex] = [declaredIn('acme'), declaredIn('globex')];
    const source = {
      current: () => ({ automations: [acme, globex], channels: [] }),
      refuse: () => undefined,
      afterTick: () => undefined,
    };
    const listener = followDeclarations(source, undefined, residents);
    await first.db.transaction().execute((trx) => listener.recordTick(trx, until.getTime()));
    expect((await of(first.db)).automations.map(({ organization }) => organization)).to.deep.equal(['globex']);
  });

  it('takes along what owners declared in the console, there and back: the last declaration holds', async () => {
    const automations = new ConsoleAutomations(() => databases.first.db);
    const there = new ConsoleAutomations(() => databases.eu.db);
    const channels = (db: Database) => new ConsoleChannels(() => db, databases.first.db);
    const [kept, removed] = [randomUUID(), randomUUID()];
    await automations.apply('acme', new Map([kept, removed].map((id) => [id, { name: 'old' }])));
    await automations.apply('globex', new Map([[kept, { name: 'stays' }]]));
    const chat = (name: string) => ({ name, spec: { type: 'webhook' }, sealed: null });
    await channels(databases.first.db).make('acme', chat('old'));

    await moveOrganization(options(), 'eu');
    expect(await there.get('acme', removed)).to.deep.equal({ name: 'old' });
    await there.apply('acme', new Map([[kept, { name: 'new' }]]), { isWhole: true });
    expect(await channels(databases.eu.db).remove('acme', 'old')).to.equal(true);
    await channels(databases.eu.db).make('acme', chat('new'));

    await moveOrganization(options(), 'first');
    expect(await automations.get('acme', kept)).to.deep.equal({ name: 'new' });
    expect(await automations.get('acme', removed)).to.equal(undefined);
    expect(await channels(databases.first.db).list('acme')).to.deep.equal([{ name: 'new', type: 'webhook' }]);
    await cleanOrganization(options());
    for (const table of ['console_automations', 'console_channels'] as const) {
      expect(await databases.eu.db.selectFrom(table).selectAll().execute(), table).to.deep.equal([]);
    }
    expect(await automations.get('globex', kept)).to.deep.equal({ name: 'stays' });
  });

  it('refuses what owners do in a database that they have left, as unavailable and only to them', async () => {
    const { first } = databases;
    const ofConsole = new URL(first.url);
    ofConsole.username = `console_${ofConsole.pathname.slice(1)}`;
    await query(first.url, `create role ${ofConsole.username} login in role runledger_reader`);
    await using user = openDatabase(ofConsole.href);
    const declared = randomUUID();
    const spec = new Map([[declared, { name: 'before' }]]);
    await new ConsoleAutomations(() => user).apply('acme', spec);
    const chat = { name: 'before', spec: { type: 'webhook' }, sealed: null };
    await new ConsoleChannels(() => user, user).make('acme', chat);
    await moveOrganization(options(), 'eu');
    for (const db of [first.db, user]) {
      const automations = new ConsoleAutomations(() => db);
      const channels = new ConsoleChannels(() => db, db);
      const mute = { kind: 'mute', automationId: undefined, until: undefined, window: undefined } as const;
      const note = { id: randomUUID(), by: 'Olga', note: 'x', ...mute };
      const moves = { code: 'unavailable', message: 'The organization moves to another database: try again.' };
      for (const [what, work] of Object.entries({
        insert: () => automations.apply('acme', new Map([[randomUUID(), { name: 'new' }]])),
        update: () => automations.apply('acme', new Map([[declared, { name: 'new' }]])),
        delete: () => automations.remove('acme', declared),
        'delete of all': () => automations.apply('acme', new Map(), { isWhole: true }),
        'insert of a channel': () => channels.make('acme', { ...chat, name: 'new' }),
        'delete of a channel': () => channels.remove('acme', 'before'),
        act: () => new Acts(() => db).add({ organization: 'acme', ...note }),
      })) {
        expect(await failureOf(work()), what).to.include(moves);
      }
      expect(await automations.get('acme', declared)).to.deep.equal({ name: 'before' });
      expect(await automations.apply('globex', spec)).to.deep.include({ removed: [] });
      expect(await automations.remove('globex', declared)).to.equal(true);
      expect(await new Acts(() => db).add({ organization: 'globex', ...note, id: randomUUID() })).to.equal(true);
    }
  });

  it('closes its source only once the target has ticked as far: events that wait would hold both back', async () => {
    const { first, eu } = databases;
    const tickTo = (db: Database, seconds: number) => {
      const at = new Date(Date.UTC(2026, 0, 1) + seconds * 1_000);
      return db.updateTable('controller_state').set({ watermark: at, watermark_at: at }).execute();
    };
    await tickTo(first.db, 2);
    await tickTo(eu.db, 1);
    await recordEvents(first.db, [ofAcme()]);
    const { logger, records } = recordingLogger();
    const move = moveOrganization({ ...options(), logger }, 'eu');
    const waits = () => records.some(({ message }) => message === 'waiting for the controller to tick in the target');
    await until('the move waits', waits);
    expect(await recordEvents(first.db, [ofAcme()])).to.include({ stored: 1 });
    await tickTo(eu.db, 3);
    await move;
    expect(await nameOf()).to.equal('eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(2);
  });

  /** Moves to `eu`, which loses the slot of a table that is copied but not level yet. */
  const moveWithSlot = async (
    from: { name: string; db: Database; url: string },
    { created, falls }: Partial<Record<'created' | 'falls', (slot: string) => Promise<unknown>>>,
  ): Promise<void> => {
    const { eu } = databases;
    await recordEvents(from.db, [ofAcme(), ofAcme()]);
    await using session = await openSession(eu.url);
    const one = async (text: string) => (await session.query<Record<string, unknown>>(text)).rows[0];
    const workerOf = async (table: string) =>
      Number(
        (await one(`select pid from pg_stat_subscription where relid ${table} and pid is not null`))?.['pid'] ?? 0,
      );
    const ofEvents = `= 'events'::regclass`;
    // The table waits, so that the other worker of Postgres can be stopped before it is copied.
    const source = afterStatement(from.db, 'pg_create_logical_replication_slot', () =>
      session.query('begin; lock table events in share mode'),
    );
    const { logger, records } = recordingLogger();
    const named = new Map(databases.named).set(from.name, { ...from, db: source });
    const move = moveOrganization({ ...options(), databases: named, logger }, 'eu');
    await until('the copy waits', async () => (await workerOf(ofEvents)) > 0 && (await workerOf('is null')) > 0);
    const main = await workerOf('is null');
    process.kill(main, 'SIGSTOP');
    let slot = '';
    try {
      await session.query('commit');
      const isCopied = `select from pg_subscription_rel where srrelid ${ofEvents} and srsubstate = 'f'`;
      await until('the table is copied', async () => (await one(isCopied)) !== undefined);
      await one(`select pg_terminate_backend(${await workerOf(ofEvents)})`);
      const [table] = await query<{ oid: number }>(eu.url, `select 'events'::regclass::oid::integer as oid`);
      const drop = sql<{ slot: string }>`
        select slot_name as slot, pg_drop_replication_slot(slot_name) from pg_replication_slots
        where not active and slot_name ~ ${`^pg_[0-9]+_sync_${table?.oid}_`}
      `;
      slot = await until('its slot is gone', async () => (await drop.execute(from.db)).rows[0]?.slot);
      await created?.(slot);
    } finally {
      process.kill(main, 'SIGCONT');
    }
    await falls?.(slot);
    await move;
    expect(records.map(({ message }) => message)).to.include(
      'Postgres has lost its place in a table, and copies all of them again',
    );
    expect(await nameOf()).to.equal('eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(2);
    expect(await slotsAndPublications(from.db)).to.deep.equal([]);
  };

  it('copies again when the target died between the two ends of a copied table, which Postgres never mends', async () => {
    await moveWithSlot({ name: 'first', ...databases.first }, {});
  });

  it('copies again when the source has given up the WAL of a copied table', async () => {
    const far = await PostgresServer.start(['-c', 'max_slot_wal_keep_size=16MB']);
    await using _far = { [Symbol.asyncDispose]: () => far.stop() };
    await migrate(far.url());
    await using db = openDatabase(far.url());
    await place(databases.first.db, 'acme', 'far');
    await moveWithSlot(
      { name: 'far', db, url: far.url() },
      {
        // Only a slot that nothing reads falls behind.
        created: (slot) => sql`select pg_create_physical_replication_slot(${slot}, true)`.execute(db),
        falls: async (slot) => {
          const state = sql<{ lost: boolean; behind: boolean }>`
          select bool_or(slot_name = ${slot} and wal_status = 'lost') as lost,
            bool_or(slot_name <> ${slot} and pg_walfile_name(restart_lsn) <> pg_walfile_name(pg_current_wal_lsn())) as behind
          from pg_replication_slots
        `;
          await until('the slot is lost', async () => {
            const [now] = (await state.execute(db)).rows;
            if (now?.behind === false) await sql`select pg_switch_wal()`.execute(db);
            await sql`checkpoint`.execute(db);
            return now?.lost;
          });
        },
      },
    );
  });

  it('takes along what is stored between its last look and the close', async () => {
    const { first, eu } = databases;
    await recordEvents(first.db, [ofAcme()]);
    const late = ofAcme();
    const source = afterStatement(first.db, 'pg_wal_lsn_diff', () => recordEvents(first.db, [late]));
    await moveOrganization(options(new Map([...databases.byName, ['first', source] as const])), 'eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(2);
  });

  it('takes along what maintenance moves out of DEFAULT meanwhile, and retention waits for its end', async () => {
    const { first, eu } = databases;
    const { now } = await readClock(first.db);
    const daysAgo = (days: number, executionId = 'kept') => ofAcme({ createdAt: now - days * day, executionId });
    const settings = { partitionsAhead: 1, overdueAfterHours: 24, macKey };
    const maintain = (db: Database) =>
      untilUnlocked(() => createStore(db, { ...settings, retentionDays: 3 }).maintain());
    const storeOldLetter = async (): Promise<void> => {
      await keepDeadLetter(first.db, daysAgo(0), 'test', macKey);
      await first.db
        .updateTable('dead_letters')
        .set({ dead_at: new Date(now - 10 * day) })
        .execute();
    };
    const [expired, today] = [daysAgo(10, 'expired'), daysAgo(0)];
    await recordEvents(first.db, [expired, today], withLeaves);
    await createStore(first.db, { ...settings, retentionDays: 0 }).maintain();
    const [copied, followed, turned] = [daysAgo(2), daysAgo(1), daysAgo(3)];
    await recordEvents(first.db, [copied], withLeaves);
    await storeOldLetter();
    // Retention has not deleted the executions of a dropped day yet.
    await sql`create table events_20260101_expired_1 ()`.execute(first.db);
    expect(await beginMove(first.db, 'acme', 'eu')).to.equal(false);
    await sql`drop table events_20260101_expired_1`.execute(first.db);

    const reports: MaintenanceReport[] = [];
    const whileCopied = afterStatement(first.db, 'pg_wal_lsn_diff', async () => {
      reports.push(await maintain(first.db));
      await recordEvents(first.db, [turned], withLeaves);
      await untilUnlocked(() =>
        first.db.transaction().execute(async (trx) => {
          await lockEvents(trx);
          await makeDefaultThePartitionOf(trx, { from: dayOf(turned.createdAt), to: dayOf(followed.createdAt) });
        }),
      );
      await recordEvents(first.db, [followed], withLeaves);
      await storeOldLetter();
    });
    const source = afterStatement(whileCopied, 'pg_logical_emit_message', async () => {
      for (const db of [first.db, eu.db]) reports.push(await maintain(db));
    });
    await moveOrganization(options(new Map([...databases.byName, ['first', source] as const])), 'eu');
    const idsIn = async (db: Database) => (await storedEvents(db)).map(({ id }) => id);
    const kept = [copied, followed, turned, today].map(({ id }) => id);
    expect(await idsIn(eu.db)).to.have.members([expired.id, ...kept]);
    expect(reports).to.have.lengthOf(3);
    for (const report of reports) expect(report).to.deep.include({ moved: 0, dropped: [], waitsForMove: true });

    for (const db of [first.db, eu.db]) {
      const { moved, dropped } = await maintain(db);
      expect([moved > 0, dropped.length]).to.deep.equal([true, 1]);
      expect(await idsIn(db)).to.have.members(kept);
      expect(await storedExecutions(db)).to.have.lengthOf(1);
      expect(await wrongRunning(db)).to.deep.equal([]);
    }
    const acts = await eu.db.selectFrom('log_acts').select('act').execute();
    const deletions = acts.map(({ act }) => act).filter((act) => !act.includes('dead-letter-kept'));
    expect(deletions.map((act) => /"act":"([a-z-]+)"/.exec(act)?.[1])).to.have.members([
      'dead-letters-deleted',
      'events-expired',
    ]);
  });

  it('goes on after Postgres has lost a connection of the replication', async () => {
    const { first, eu } = databases;
    await recordEvents(first.db, [ofAcme()]);
    const breakOff = sql`
      select pg_terminate_backend(active_pid) from pg_replication_slots
      where active_pid is not null and database = current_database()
    `;
    const errors = sql`
      select from pg_stat_subscription_stats join pg_subscription on oid = subid
      where subdbid = (select oid from pg_database where datname = current_database())
        and apply_error_count + sync_error_count > 0
    `;
    const source = afterStatement(first.db, 'pg_wal_lsn_diff', () =>
      until('Postgres has counted an error', async () => {
        await breakOff.execute(first.db);
        return (await errors.execute(eu.db)).rows.length > 0;
      }),
    );
    await moveOrganization(options(new Map([...databases.byName, ['first', source] as const])), 'eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(1);
  });

  it('leaves no slot that keeps WAL: neither when it cannot begin, nor when a target without a connection is left', async () => {
    const { first, eu } = databases;
    await recordEvents(first.db, [ofAcme()]);
    const left = () => slotsAndPublications(first.db);
    const failing = new Map([...databases.byName, ['eu', failingAt(eu.db, 'create subscription')] as const]);
    expect(await failureOf(moveOrganization(options(failing), 'eu'))).to.include({ message: 'killed' });
    expect(await left()).to.deep.equal([]);

    await using session = await openSession(eu.url);
    const source = afterStatement(first.db, 'pg_create_logical_replication_slot', () =>
      session.query('begin; lock table events in share mode'),
    );
    const { logger, records } = recordingLogger();
    const waits = options(new Map([...databases.byName, ['first', source] as const]));
    const breaksOff = moveOrganization({ ...waits, logger, patienceMs: 1_500 }, 'eu');
    const copies = sql`select pid from pg_stat_subscription where relid = 'events'::regclass and pid is not null`;
    await until('the table waits', async () => (await copies.execute(eu.db)).rows.length > 0);
    await until('its slot is there', async () => (await left()).length > 2);
    await disconnect(eu);
    expect(String(await failureOf(breaksOff))).to.match(/^MoveError: the server of eu has not replicated from first/);
    expect(records.map(({ message }) => message)).to.include('Postgres does not replicate from the source now');
    await sql`select pg_terminate_backend(pid) from pg_stat_subscription where pid is not null`.execute(eu.db);
    await session.query('rollback');
    await cancelMove(options());
    expect(await left()).to.deep.equal([]);
    expect(await recordEvents(first.db, [ofAcme()])).to.include({ stored: 1 });
  });

  it('ends with a sentence when the target loses its source after the close, and goes on when it is run again', async () => {
    const { first, eu } = databases;
    await recordEvents(first.db, [ofAcme()]);
    const source = afterStatement(first.db, 'create or replace trigger', async () => {
      await disconnect(eu);
      const isIdle = sql`
        select from pg_replication_slots where database = current_database() and active_pid is null
      `;
      await until('nothing replicates', async () => (await isIdle.execute(first.db)).rows.length > 0);
    });
    const broken = options(new Map([...databases.byName, ['first', source] as const]));
    const failure = await failureOf(moveOrganization({ ...broken, patienceMs: 1_000 }, 'eu'));
    expect(String(failure)).to.match(/^MoveError: the server of eu has not replicated from first for 1 s/);
    expect(await failureOf(recordEvents(first.db, [ofAcme()]))).to.include({ code: 'RL001' });
    await moveOrganization(options(), 'eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(1);
  });

  it('can be cancelled until its end: the source takes events again', async () => {
    const { first, eu } = databases;
    await recordEvents(first.db, [ofAcme()]);
    const counter = { left: Infinity };
    const dying = new Map([...databases.byName, ['eu', killedAt(eu.db, counter)] as const]);
    counter.left = 20;
    await failureOf(moveOrganization(options(dying), 'eu'));
    const underWay = 'a move is under way: end or cancel it first';
    expect(await failureOf(cleanOrganization(options()))).to.include({ message: underWay });
    const toEu = 'a move to eu is under way: end or cancel it first';
    expect(await failureOf(moveOrganization(options(), 'first'))).to.include({ message: toEu });
    await cancelMove(options());
    expect([await isOnMove(first.db), await isOnMove(eu.db)]).to.deep.equal([false, false]);
    await recordEvents(first.db, [ofAcme()]);
    expect(await storedEvents(first.db)).to.have.lengthOf(2);
    await moveOrganization(options(), 'eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(2);
    expect(await failureOf(cancelMove(options()))).to.include({ message: 'no move is under way' });
    await first.db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.move)})`.execute(trx);
      expect(await failureOf(moveOrganization(options(), 'eu'))).to.include({ message: 'another move is under way' });
    });
    const noUs = { name: 'MoveError', message: 'there is no database us, only first, eu' };
    expect(await failureOf(moveOrganization(options(), 'us'))).to.include(noUs);
  });

  it('can be cancelled while the target is gone, and once more when it is back', async () => {
    const { first, named } = databases;
    const far = await PostgresServer.start();
    await using _far = { [Symbol.asyncDispose]: () => far.stop() };
    await migrate(far.url());
    await using db = openDatabase(far.url());
    const { logger, records } = recordingLogger();
    const withFar = (source: Database) => {
      const all = new Map(named).set('far', { name: 'far', url: far.url(), db });
      return { ...options(), logger, databases: all.set('first', { name: 'first', url: first.url, db: source }) };
    };
    await recordEvents(first.db, [ofAcme()]);
    const dies = afterStatement(first.db, 'pg_logical_emit_message', () => far.kill('SIGKILL'));
    await failureOf(moveOrganization(withFar(dies), 'far'));
    expect(await failureOf(recordEvents(first.db, [ofAcme()]))).to.include({ code: 'RL001' });

    await cancelMove(withFar(first.db));
    expect(records.map(({ message }) => message)).to.include(
      'the subscription and what it copied stay in the target: cancel again once it is back',
    );
    expect(await slotsAndPublications(first.db)).to.deep.equal([]);
    expect(await recordEvents(first.db, [ofAcme()])).to.include({ stored: 1 });
    expect(await isOnMove(first.db)).to.equal(false);

    await far.startAgain();
    await cancelMove(withFar(first.db));
    const subscriptions = await sql`select from pg_subscription`.execute(db);
    expect([subscriptions.rows.length, await isOnMove(db)]).to.deep.equal([0, false]);
    expect(await failureOf(cancelMove(withFar(first.db)))).to.include({ message: 'no move is under way' });
    await moveOrganization(withFar(first.db), 'far');
    expect(await storedEvents(db)).to.have.lengthOf(2);
  });

  it('begins anew after it was cancelled without its target, which still has the old subscription', async () => {
    const { first, eu } = databases;
    await recordEvents(first.db, [ofAcme()]);
    const stopped = new Map([...databases.byName, ['first', failingAt(first.db, 'pg_logical_emit')] as const]);
    await failureOf(moveOrganization(options(stopped), 'eu'));
    const nowhere = openDatabase('postgres://127.0.0.1:1/none');
    await using _nowhere = { [Symbol.asyncDispose]: () => nowhere.destroy() };
    await cancelMove(options(new Map([...databases.byName, ['eu', nowhere] as const])));
    expect(await slotsAndPublications(first.db)).to.deep.equal([]);
    await recordEvents(first.db, [ofAcme()]);
    await moveOrganization(options(), 'eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(2);
  });

  it('leaves nothing of its state in the target when it is cancelled before the map changes', async () => {
    const { first, eu } = databases;
    await declare(first.db);
    await declareChannel(first.db, { url: 'https://receiver.example' });
    await storeAlert(first.db, transition('opened'));
    await new ConsoleAutomations(() => first.db).apply('acme', new Map([[randomUUID(), { name: 'owned' }]]));
    const dies = async () => {
      const db = failingAt(first.db, 'insert into organization_databases');
      await failureOf(moveOrganization(options(new Map([...databases.byName, ['first', db] as const])), 'eu'));
    };
    const leftIn = async (db: Database) => {
      const tables = ['automations', 'channels', 'alerts', 'console_automations'] as const;
      return Promise.all(tables.map(async (table) => (await db.selectFrom(table).selectAll().execute()).length));
    };
    await dies();
    expect(await leftIn(eu.db)).to.deep.equal([1, 1, 1, 1]);
    await cancelMove(options());
    expect(await leftIn(eu.db)).to.deep.equal([0, 0, 0, 0]);
    expect(await leftIn(first.db)).to.deep.equal([1, 1, 1, 1]);

    // Without a cancel, a tick of the target does it, and resolves nothing. The source keeps it.
    await dies();
    for (const [name, db] of databases.byName) {
      const residents = new Residents(name, first.db);
      await db.transaction().execute((trx) => residents.prepare(trx));
    }
    expect((await leftIn(eu.db)).slice(0, 3)).to.deep.equal([0, 0, 0]);
    expect(await leftIn(first.db)).to.deep.equal([1, 1, 1, 1]);
    await moveOrganization(options(), 'eu');
    expect(await leftIn(eu.db)).to.deep.equal([1, 1, 1, 1]);
  });

  it('cannot be cancelled once the organization has arrived', async () => {
    const { first, eu } = databases;
    await recordEvents(first.db, [ofAcme()]);
    // The source deletes its state after the map has changed.
    const dying = new Map([...databases.byName, ['first', failingAt(first.db, 'organization = any(')] as const]);
    expect(await failureOf(moveOrganization(options(dying), 'eu'))).to.include({ message: 'killed' });
    expect(await nameOf()).to.equal('eu');
    const arrived = 'acme is in eu already: the same move, run again, ends it';
    expect(await failureOf(cancelMove(options()))).to.include({ name: 'MoveError', message: arrived });
    expect(await failureOf(recordEvents(eu.db, [ofAcme()]))).to.include({ code: 'RL001' });
    await moveOrganization(options(), 'eu');
    expect(await recordEvents(eu.db, [ofAcme()])).to.include({ stored: 1 });
    expect([await isOnMove(first.db), await isOnMove(eu.db)]).to.deep.equal([false, false]);
  });

  it('takes along the log, which stays one: there and back, with leaves that wait for their places', async () => {
    const { first, eu } = databases;
    const all = Array.from({ length: 300 }, () => ofAcme());
    await recordEvents(first.db, all, withLeaves);
    await seal(first.db);
    const waiting = Array.from({ length: 3 }, () => ofAcme());
    await recordEvents(first.db, waiting, withLeaves);
    // Of an organization that stays.
    await recordEvents(first.db, [anEvent({ organization: 'globex' })], withLeaves);
    await moveOrganization(options(), 'eu');
    for (const { db } of [first, eu]) await seal(db);
    const idsOf = (events: readonly AcceptedEvent[]) => events.map(({ id }) => id);
    expect(await idsInLog(eu.db)).to.have.members(idsOf([...all, ...waiting]));
    expect(await headOf(first.db)).to.include({ size: 300 });
    expect((await headOf(first.db, 'globex')).size).to.equal(1);

    const more = [ofAcme()];
    await recordEvents(eu.db, more, withLeaves);
    await moveOrganization(options(), 'first');
    for (const { db } of [first, eu]) await seal(db);
    expect(await idsInLog(first.db)).to.have.members(idsOf([...all, ...waiting, ...more]));
  });

  it('needs no superuser from Postgres 16 on, only a password', async function () {
    const server = await PostgresServer.start();
    await using _server = { [Symbol.asyncDispose]: () => server.stop() };
    const [settings] = await server.query(`select current_setting('hba_file') as hba_file,
      current_setting('server_version_num')::integer < 160000 as is_older`);
    if (settings?.['is_older'] === true) this.skip();
    const local = '127.0.0.1/32';
    await writeFile(
      String(settings?.['hba_file']),
      `host all postgres ${local} trust\nhost all all ${local} scram-sha-256\n`,
    );
    await server.query('select pg_reload_conf()');
    await server.query(`create role mover login replication password 'secret' in role pg_create_subscription`);
    const owned = async (name: string) => {
      await server.query(`create database ${name} owner mover`);
      const url = Object.assign(new URL(server.url(name)), { username: 'mover', password: 'secret' }).href;
      await migrate(url);
      return { name, url, db: openDatabase(url) };
    };
    const [first, eu] = [await owned('first'), await owned('eu')];
    await using _first = first.db;
    await using _eu = eu.db;
    await recordEvents(first.db, [ofAcme(), ofAcme()], withLeaves);
    const named = new Map([first, eu].map((database) => [database.name, database]));
    await moveOrganization({ ...options(), databases: named }, 'eu');
    expect(await storedEvents(eu.db)).to.have.lengthOf(2);
    expect(await slotsAndPublications(first.db)).to.deep.equal([]);
  });

  it('says in one sentence what a server does not allow', async () => {
    const { first, eu, named } = databases;
    const plain = await PostgresServer.start(['-c', 'wal_level=replica']);
    await using _plain = { [Symbol.asyncDispose]: () => plain.stop() };
    await migrate(plain.url());
    const role = 'without_rights';
    await sql.raw(`drop role if exists ${role}; create role ${role} login`).execute(first.db);
    for (const { db } of [first, eu])
      await sql.raw(`grant select on all tables in schema public to ${role}`).execute(db);
    const pooler = await PgBouncer.start(first.url);
    await using _pooler = { [Symbol.asyncDispose]: () => pooler.stop() };
    const weak = ({ url }: { url: string }) => Object.assign(new URL(url), { username: role }).href;
    for (const [name, url, sentence] of [
      ['first', plain.url(), 'wal_level of the database first is replica, and Postgres needs logical'],
      ['first', weak(first), 'the user of the database first may not replicate: give it the attribute REPLICATION'],
      ['first', pooler.url, 'the address of the database first takes no connection that replicates ('],
      ['eu', weak(eu), 'the user of the database eu may not make a subscription: give it the role pg_create_subscr'],
    ] as const) {
      await using db = openDatabase(url);
      const limited = { ...options(), databases: new Map(named).set(name, { name, url, db }) };
      expect(String(await failureOf(moveOrganization(limited, 'eu')))).to.include(`MoveError: ${sentence}`);
      expect(await readMove(first.db, 'acme')).to.equal(undefined);
    }
    // RDS gives the right to replicate by a role, and no attribute says it.
    await sql.raw(`create role rds_replication role ${role}`).execute(first.db);
    await using db = openDatabase(weak(first));
    const ofRds = { ...options(), databases: new Map(named).set('first', { name: 'first', url: weak(first), db }) };
    expect(String(await failureOf(moveOrganization(ofRds, 'eu')))).to.include('takes no connection that replicates (');
    for (const { db } of [first, eu]) await sql.raw(`drop owned by ${role}`).execute(db);
    await sql.raw(`drop role ${role}, rds_replication`).execute(first.db);
  });
});
