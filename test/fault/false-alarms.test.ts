import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { ManifestActs } from '../../internal/record/archive/manifest-acts.ts';
import { formatNames } from '../../internal/record/formats/formats.ts';
import { writeErasure } from '../../internal/ledger/erasure.ts';
import { actKeyOf } from '../../internal/ledger/mac.ts';
import { Acts, type OwnersAct } from '../../internal/store/acts/acts.ts';
import { readMutes } from '../../internal/store/acts/read-mutes.ts';
import { recordActs } from '../../internal/store/acts/record-acts.ts';
import type { Database } from '../../internal/store/database.ts';
import { keepDeadLetter } from '../../internal/store/dead-letters.ts';
import { eraseEvents } from '../../internal/store/erase/erase.ts';
import { eraseTraces } from '../../internal/store/erase/erase-traces.ts';
import { listErasures } from '../../internal/store/erase/list-erasures.ts';
import { appendAct } from '../../internal/store/ledger/append-act.ts';
import type { NamedDatabase } from '../../internal/store/organizations/move/moved-tables.ts';
import { moveOrganization } from '../../internal/store/organizations/move/move.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { sealOlder } from '../../internal/store/ledger/seal-older.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { createStore } from '../../internal/store/store.ts';
import { anEvent, someEvent } from '../support/events.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { binary, PostgresServer } from '../support/postgres-server.ts';
import { runAdmin, type AdminRun } from '../support/admin.ts';
import { macKey, publicLogKey, seal, withLeaves } from '../support/sealed-ledger.ts';
import { writeExport, writeServed } from '../support/served-export.ts';
import { migrate, openDatabase } from '../support/store.ts';
import { testFiles } from '../support/test-files.ts';

/** RUNS=200 is the whole: a few seconds each on a machine with nothing else to do. */
const runs = Number(process.env['RUNS'] ?? 3);

const day = 24 * 3_600_000;
const store = { partitionsAhead: 1, overdueAfterHours: 24, macKey };
const { logger } = createTelemetry('false-alarms', 'silent');

describe('verify', function suite() {
  this.timeout(60_000 + runs * 60_000);
  const seed = seedOfRun();
  const files = testFiles();
  let server: PostgresServer;
  let template: string;

  before(async () => {
    server = await PostgresServer.start();
    const url = await server.createDatabase();
    await migrate(url);
    template = new URL(url).pathname.slice(1);
  });

  after(() => server.stop());

  it(`accuses nobody in ${runs} runs beside workers, crashes, retention, erasures, moves and a restore, SEED=${seed}`, async () => {
    for (let run = 0; run < runs; run += 1) await new Run(server, files, seed + run).check(template);
  });
});

type Settings = Record<string, string>;

function verify(env: Settings, ...args: string[]): Promise<AdminRun> {
  return runAdmin(['verify', '--public-key', publicLogKey, '--organization', 'acme', ...args], { env });
}

/** A record that workers, a sealer and operators write at the same time. */
class Run {
  readonly #server: PostgresServer;
  readonly #files: ReturnType<typeof testFiles>;
  readonly #name: string;
  readonly #random: Random;
  readonly #seed: number;
  readonly #state: string;
  #home: Database | undefined;
  #isDown = false;

  constructor(server: PostgresServer, files: ReturnType<typeof testFiles>, seed: number) {
    this.#server = server;
    this.#files = files;
    this.#seed = seed;
    this.#name = `run-${seed}`;
    this.#random = new Random(seed);
    this.#state = files.path(`${this.#name}/state`);
  }

  async check(template: string): Promise<void> {
    const [url, otherUrl] = [await this.#server.createDatabase(template), await this.#server.createDatabase(template)];
    await this.#files.write(`${this.#name}/empty`, '');
    await using first = openDatabase(url, 60_000);
    await using other = openDatabase(otherUrl, 60_000);
    this.#home = first;
    const settings = { DATABASE_URL: url, DATABASE_URLS: `other=${otherUrl}` };
    await this.#begin(first);
    let ended = false;
    const isOver = (): boolean => ended;
    const others = [this.#seals(first, isOver), this.#seals(other, isOver), this.#operates(isOver)];
    others.push(this.#verifies(settings, isOver));
    if (this.#random.chance(0.5)) others.push(this.#crashes());
    const moves = this.#random.chance(0.4);
    if (moves) {
      others.push(
        this.#moves({ first: { name: 'first', db: first, url }, other: { name: 'other', db: other, url: otherUrl } }),
      );
    }
    await Promise.all([this.#works(), this.#works()]);
    ended = true;
    await Promise.all(others);
    await this.#retried(() => seal(this.#db));
    await this.#expectSilence(settings);
    await this.#expectSilenceOfExport(this.#db);
    await this.#expectSilence({ DATABASE_URL: await this.#restored(moves ? otherUrl : url) });
  }

  /** The database that the organization is in. */
  get #db(): Database {
    if (this.#home === undefined) throw new Error('the run has not begun');
    return this.#home;
  }

  /** Moves the organization to the other database while workers store its events. */
  async #moves(named: Record<'first' | 'other', NamedDatabase>): Promise<void> {
    await sleep(this.#random.int(0, 400));
    const databases = new Map(Object.entries(named));
    const options = { databases, organization: 'acme', logger };
    await this.#retried(() => moveOrganization(options, 'other'));
    this.#home = named.other.db;
  }

  /** Some records begin with events from before the log. */
  async #begin(db: Database): Promise<void> {
    await createStore(db, { ...store, retentionDays: 0 }).maintain();
    const older = this.#random.chance(0.3) ? this.#events(20, 4) : [];
    if (older.length > 0) await recordEvents(db, older);
    await recordEvents(db, this.#events(this.#random.int(5, 300), 4), withLeaves);
    await createStore(db, { ...store, retentionDays: 0 }).maintain();
    await seal(db);
    if (older.length === 0) return;
    await sealOlder(db, macKey, { organization: 'acme', by: 'ana', reason: 'ticket 7', most: 1_000, pageSize: 7 });
    await seal(db);
  }

  /** Stores batches, some of them again, as after a crash of a worker. */
  async #works(): Promise<void> {
    for (let batch = 0; batch < 12; batch += 1) {
      const events = this.#events(this.#random.int(1, 60), this.#random.chance(0.2) ? 6 : 1);
      await this.#retried(() => recordEvents(this.#db, events, withLeaves));
      if (this.#random.chance(0.2))
        await this.#retried(() => recordEvents(this.#db, [...events, ...this.#events(2)], withLeaves));
    }
  }

  async #seals(db: Database, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#retried(() => seal(db, this.#random.int(1, 400)));
      await sleep(this.#random.int(0, 20));
    }
  }

  /** Erases, and has retention drop the oldest days. */
  async #operates(isOver: () => boolean): Promise<void> {
    const request = { organization: 'acme', by: 'ana', reason: 'ticket 7', macKey };
    const scopes = [{ text: 'name' }, { executionId: 'run 1' }, { text: 'a' }, {}] as const;
    while (!isOver()) {
      await sleep(this.#random.int(10, 80));
      const before = new Date(Date.now() - this.#random.int(0, 3) * day);
      const scope = { ...this.#random.pick(scopes), before };
      const automationId = 'executionId' in scope ? { automationId: anEvent().automationId } : {};
      await this.#retried(async () => {
        const db = this.#db;
        if (this.#random.chance(0.4)) await createStore(db, { ...store, retentionDays: 3 }).maintain();
        const details = { scope: 'write', token: '0123456789ab' };
        if (this.#random.chance(0.3))
          await appendAct(db, macKey, { organization: 'acme', kind: 'token-issued', by: 'ana', details });
        for await (const erasure of eraseEvents(db, { ...request, ...scope, ...automationId }, 25)) void erasure;
        await eraseTraces(db, { ...request, ...scope, ...automationId });
        if (this.#random.chance(0.2)) await keepDeadLetter(db, anEvent({ description: 'a name' }), '22P02: x', macKey);
      });
      await this.#retried(() => this.#owns());
    }
  }

  /** An owner acts in a console, and a worker records it. */
  async #owns(): Promise<void> {
    const db = this.#db;
    const [{ id: mute } = { id: undefined }] = await readMutes(db, sql`now()`, [actKeyOf(macKey)], 'acme');
    const until = new Date(Date.now() + day);
    const act = this.#random.pick<OwnersAct>([
      { kind: 'mute', automationId: undefined, until, window: undefined },
      { kind: 'note', automationId: anEvent().automationId, executionId: 'run 1' },
      ...(mute === undefined ? [] : [{ kind: 'unmute', mute } as const]),
    ]);
    const signed = { organization: 'acme', id: randomUUID(), by: 'Olga', note: 'a name' };
    await new Acts(() => db, [actKeyOf(macKey)]).add({ ...signed, ...act });
    await recordActs(db, [macKey], () => undefined);
  }

  /** Checks beside all of it: what cannot be checked for now is no finding. */
  async #verifies(settings: Settings, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { code, stdout, stderr } = await verify(settings, '--state', this.#state);
      expect(code, `SEED=${this.#seed}: ${stdout}${stderr}`).to.not.equal(1);
      await sleep(this.#random.int(0, 50));
    }
  }

  async #crashes(): Promise<void> {
    await sleep(this.#random.int(50, 600));
    this.#isDown = true;
    await this.#server.kill('SIGKILL');
    await this.#server.startAgain();
    this.#isDown = false;
  }

  /** Repeats what a crash has interrupted, as every process does. */
  async #retried<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (attempt > 200) throw error;
        await sleep(this.#isDown ? 50 : 10);
      }
    }
  }

  async #expectSilence(settings: Settings): Promise<void> {
    const { code, stdout, stderr } = await verify(settings, '--state', this.#state);
    const asks = /^Event \S+ came again, and was stored again, after erasure/m.test(stdout);
    expect(code, `SEED=${this.#seed}: ${stdout}${stderr}`).to.equal(asks ? 2 : 0);
  }

  async #expectSilenceOfExport(db: Database): Promise<void> {
    const format = this.#random.pick(formatNames);
    const at = Date.now() - this.#random.int(0, 2) * day;
    const acts = new ManifestActs(db, macKey);
    const exported = await writeExport(db, this.#files, { at, format, acts, name: `${this.#name}/archive` });
    await seal(db);
    const records: string[] = [];
    for await (const erasure of listErasures(db, 'acme')) records.push(writeErasure(erasure));
    const erasures = await this.#files.write(`${this.#name}/erasures`, records.join('\n'));
    const log = await writeServed(db, this.#files, `${this.#name}/served`);
    const given = records.length === 0 ? [] : ['--erasures', erasures];
    const { code, stdout, stderr } = await verify({}, '--log', log, '--export', exported, ...given);
    expect(code, `SEED=${this.#seed}: ${stdout}${stderr}`).to.not.equal(1);
  }

  /** A dump, restored into another database. */
  async #restored(url: string): Promise<string> {
    const other = await this.#server.createDatabase('template0');
    const file = this.#files.path(`${this.#name}/dump`);
    const run = promisify(execFile);
    await run(await binary('pg_dump'), ['--format', 'custom', '--file', file, '--dbname', url]);
    await run(await binary('pg_restore'), ['--exit-on-error', '--dbname', other, file]);
    return other;
  }

  /** Events of so many days and today, with any text that ingest accepts. */
  #events(count: number, days = 1): AcceptedEvent[] {
    return fc.sample(someEvent, { numRuns: count, seed: this.#random.int(1, 2 ** 31 - 1) }).map((given) => {
      const { id, createdAt } = anEvent({
        createdAt: Date.now() - this.#random.int(0, days) * day - this.#random.int(0, 1_000),
      });
      const occurredAt = this.#random.chance(0.3) ? { occurredAt: createdAt - this.#random.int(0, day) } : {};
      const { occurredAt: _, ...event } = given;
      const description = this.#random.chance(0.1) ? 'a name' : event.description;
      return { ...event, id, createdAt, ...occurredAt, description };
    });
  }
}
