import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { controller } from '../../../cmd/controller/service.ts';
import { readConfig } from '../../../internal/config/read.ts';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { overdueAfterHours } from '../../../internal/event/outcome/overdue.ts';
import { ComponentGroup } from '../../../internal/kit/lifecycle/group.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { macKeyText } from '../../../internal/ledger/mac.ts';
import { dayOf } from '../../../internal/store/partitions/days.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { runAdmin, type AdminRun } from '../admin.ts';
import { readToken, startConsole, type RunningConsole } from '../console.ts';
import { anEvent } from '../events.ts';
import { temporaryFolder } from '../export.ts';
import { day } from '../maintenance-day.ts';
import { executionsOf } from '../outcome-oracle.ts';
import { startIngest, startWorker, type RunningIngest } from '../pipeline.ts';
import { query } from '../postgres-server.ts';
import { figure } from '../rows.ts';
import { logKey, macKey, publicLogKey, withLeaves } from '../sealed-ledger.ts';
import { eventOf, openDatabase } from '../store.ts';
import { place, tokenNamesOrganization } from '../two-databases.ts';
import { until } from '../until.ts';
import { audit, flawless, type Audit } from './audit.ts';
import { Load } from './load.ts';
import type { Addresses, Servers } from './servers.ts';

/** What an operator may choose. */
export const choices = [
  'shards',
  'cluster',
  'sentinel',
  'databases',
  'overflow',
  'ledger',
  'archive',
  'erasure',
  'move',
  'replica',
  'pooler',
  'plain Koa',
] as const;
export type Choice = (typeof choices)[number];

const organizations = ['acme', 'globex'] as const;
type Organization = (typeof organizations)[number];

/** Longest wait, in ms: for a test that hangs. */
const patience = 120_000;

const [failing, old, doomed] = [randomUUID(), randomUUID(), randomUUID()];

/** Some of a name that an erasure removes. */
const person = 'Jane Doe';

type EventRow = Parameters<typeof eventOf>[0];

/** An item of a list of events or executions, as a reader gets it. */
interface Item {
  id: string;
  automation: string;
  execution_id: string;
  state: string;
  description: string;
  created_at: string;
}

/**
 * An installation with some choices, under load of two organizations. `acme` is the one whose data
 * is erased and which moves; with several databases `globex` is in the other one from the start.
 */
export class Installation {
  readonly #chosen: ReadonlySet<Choice>;
  readonly #settings: Record<string, string>;
  readonly #databases: { first: Addresses; eu: Addresses | undefined };
  readonly #archive: string;
  readonly #stack: AsyncDisposableStack;
  readonly #oldEvents = new Map<Organization, AcceptedEvent[]>();

  private constructor(
    chosen: ReadonlySet<Choice>,
    settings: Record<string, string>,
    databases: { first: Addresses; eu: Addresses | undefined },
    archive: string,
    stack: AsyncDisposableStack,
  ) {
    this.#chosen = chosen;
    this.#settings = settings;
    this.#databases = databases;
    this.#archive = archive;
    this.#stack = stack;
  }

  /** Plays an installation on these servers, and expects that all of it is right. */
  static async play(servers: Servers, chosen: ReadonlySet<Choice>, seed: number): Promise<void> {
    await using stack = new AsyncDisposableStack();
    const has = (choice: Choice): boolean => chosen.has(choice);
    const folder = stack.use(await temporaryFolder());
    const first = await (await servers.first()).createDatabase();
    const eu = has('databases') ? await (await servers.eu()).createDatabase() : undefined;
    const written = ({ pooled, direct }: Addresses): string => (has('pooler') ? pooled : direct);
    const sentinels = has('sentinel') ? (await servers.sentinels()).settings : undefined;
    const redis = [sentinels?.REDIS_URL, has('cluster') ? (await servers.cluster()).url : undefined];
    if (sentinels === undefined && !has('cluster')) {
      redis.push((await servers.redis()).url, has('shards') ? (await servers.otherRedis()).url : undefined);
    }
    const settings = {
      ...sentinels,
      REDIS_URL: redis.filter((url) => url !== undefined).join(' '),
      ...(has('shards') && { QUEUE_SHARDS: '3' }),
      QUEUE_NAME: `events-${seed}`,
      REQUIRE_DURABLE_REDIS: 'true',
      DATABASE_URL: written(first),
      ...(eu && { DATABASE_URLS: `eu=${written(eu)}` }),
      ...(has('overflow') && { OVERFLOW_RATE: '20' }),
      ...(has('archive') && { ARCHIVE_URL: pathToFileURL(folder.path).href, HOT_DAYS: '2' }),
      ...(has('plain Koa') && { FAST_PATH: 'false' }),
      MAINTENANCE_INTERVAL_MS: '1000',
      JOB_LOCK_MS: '2000',
    };
    await new Installation(chosen, settings, { first, eu }, folder.path, stack).#play(seed);
  }

  async #play(seed: number): Promise<void> {
    const has = (choice: Choice): boolean => this.#chosen.has(choice);
    await this.#storeOldEvents();
    const { ingest, console } = await this.#start();
    for (const token of organizations) await this.#report(ingest, token);
    const loads = organizations.map((token, index) => {
      const register = async (body: string, headers: Record<string, string>, timeoutMs: number, path?: string) =>
        ingest.client.register(body, { ...headers, token }, timeoutMs, path).catch(() => ({ status: 0, body: '' }));
      return { organization: token, load: new Load({ register }, { rate: 60, seed: seed + index }) };
    });
    try {
      await until('receipts', () => loads.every(({ load }) => load.ledger.count(201) > 100), patience);
      if (has('archive')) await this.#exportOldDays();
      if (has('erasure')) await this.#erase();
      if (has('move')) await this.#move();
      if (has('archive')) await this.#exportOldDays('--recheck');
      if (has('move')) await this.#admin('move', '--organization', 'acme', '--clean');
      await until('more receipts', () => loads.every(({ load }) => load.ledger.count(201) > 200), patience);
    } catch (error) {
      for (const { load } of loads) load.abandon();
      throw error;
    } finally {
      await Promise.all(loads.map(({ load }) => load.stop()));
    }
    for (const { organization, load } of loads) {
      await this.#expectStored(organization, load);
      await this.#expectRead(console, organization);
      if (has('ledger')) await this.#expectVerified(organization);
    }
    const overflowed = await figure(ingest.telemetry.registry, 'runledger_overflowed_events_total');
    expect(overflowed > 0, 'the overflow lane is used').to.equal(has('overflow'));
  }

  /** The database in which an organization is, after its move unless told otherwise. */
  #home(organization: Organization, isMoved = true): Addresses {
    const { first, eu } = this.#databases;
    const isAway = organization === 'globex' || (this.#chosen.has('move') && isMoved);
    return isAway ? (eu ?? first) : first;
  }

  #rows<Row extends object>(organization: Organization, sql: string, values: unknown[] = []): Promise<Row[]> {
    return query<Row>(this.#home(organization).direct, sql, values);
  }

  /** Stores events of a week ago, and says where the organizations are. */
  async #storeOldEvents(): Promise<void> {
    const { first, eu } = this.#databases;
    for (const organization of organizations) {
      await using db = openDatabase(this.#home(organization, false).direct);
      if (eu !== undefined && organization === 'globex') {
        await using map = openDatabase(first.direct);
        await place(map, organization, 'eu');
      }
      if (!this.#chosen.has('archive')) continue;
      const at = (days: number, event: Partial<AcceptedEvent>): AcceptedEvent =>
        anEvent({ organization, automationId: old, createdAt: dayOf(Date.now()) - days * day, ...event });
      const [start, end] = [at(8, { kind: 'START', executionId: 'old' }), at(7, { kind: 'END', executionId: 'old' })];
      const erased = at(8, { automationId: doomed, executionId: 'old', description: person });
      const events = [start, end, ...(organization === 'acme' && this.#chosen.has('erasure') ? [erased] : [])];
      await recordEvents(db, events, this.#chosen.has('ledger') ? withLeaves : {});
      this.#oldEvents.set(organization, [start, end]);
    }
  }

  async #start(): Promise<{ ingest: RunningIngest; console: RunningConsole }> {
    const has = (choice: Choice): boolean => this.#chosen.has(choice);
    const settings = this.#settings;
    const { DATABASE_URL: url = '' } = settings;
    this.#stack.use(
      await startWorker({ ...settings, ...(has('ledger') && { LEDGER_KEY: logKey }) }, { migrate: false }),
    );
    const digests = { LEDGER_DIGESTS: String(has('ledger')) };
    const ingest = this.#stack.use(await startIngest({ ...settings, ...digests }, tokenNamesOrganization));
    await until('ingest is ready', () => Object.keys(ingest.unready()).length === 0, patience);
    await this.#startController();
    const { first, eu } = this.#databases;
    const read = ({ replica, pooledReplica }: Addresses): string => (has('pooler') ? pooledReplica : replica);
    const replicas = has('replica') && eu ? { CONSOLE_DATABASE_URLS: `eu=${read(eu)}` } : {};
    const console = this.#stack.use(
      has('replica')
        ? await startConsole(read(first), { ...settings, ...replicas }, undefined, undefined, url)
        : await startConsole(url, settings),
    );
    await until('the console is ready', () => Object.keys(console.unready()).length === 0, patience);
    return { ingest, console };
  }

  /** It says that an automation fails, once it has read the clocks of the whole queue. */
  async #startController(): Promise<void> {
    const path = join(this.#archive, 'automations.yaml');
    const manifests = organizations.map(
      (organization) => `
apiVersion: v1
kind: Namespace
metadata: { name: ${organization}, labels: { runledger.dev/organization: ${organization} } }
---
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: failing, namespace: ${organization} }
spec: { automationId: ${failing}, expect: { failures: { consecutive: 1 } } }`,
    );
    await writeFile(path, manifests.join('\n---'));
    const telemetry = createTelemetry('controller', 'silent');
    const config = readConfig(controller.settings, { ...this.#settings, AUTOMATIONS_FILE: path });
    const group = new ComponentGroup('controller', await controller.wire(config, telemetry), telemetry.logger);
    await group.start();
    this.#stack.defer(() => group.stop());
    const declared = 'select from automations where organization = $1';
    for (const organization of organizations) {
      const isDeclared = async () =>
        (await query(this.#home(organization, false).direct, declared, [organization])).length > 0;
      await until('the automation is declared', isDeclared, patience);
    }
  }

  /** A run that fails, and one whose data is erased later. */
  async #report({ client }: RunningIngest, token: Organization): Promise<void> {
    const run = (automation_id: string) =>
      ['START', 'ERROR', 'END'].map((event) => ({ automation_id, execution_id: 'run', event, description: person }));
    const events = [...run(failing), ...run(doomed)];
    const answer = await client.register(events, { token }, undefined, '/v1/register/bulk/');
    expect(answer.status, answer.body).to.equal(201);
  }

  /** Runs a command of an operator, which must succeed. */
  async #admin(...args: string[]): Promise<void> {
    const { code, stdout, stderr } = await this.#run(...args);
    expect(code, `${stdout}${stderr}`).to.equal(0);
  }

  /** Only a move needs the address of Postgres itself. */
  async #run(...args: string[]): Promise<AdminRun> {
    const { first, eu } = this.#databases;
    const itself = { DATABASE_URL: first.direct, ...(eu && { DATABASE_URLS: `eu=${eu.direct}` }) };
    const env = {
      ...this.#settings,
      ...(args[0] === 'move' && { ...itself, LOG_LEVEL: 'silent' }),
      ...(this.#chosen.has('ledger') && { LEDGER_MAC_KEY: macKeyText(macKey) }),
    };
    return runAdmin(args, { env });
  }

  /** Resolves once only the archive has the old events. */
  async #exportOldDays(...args: string[]): Promise<void> {
    await this.#admin('export', ...args);
    const hot = `select from events where created_at < now() - interval '3 days'`;
    const { first, eu } = this.#databases;
    for (const { direct } of eu ? [first, eu] : [first])
      await until('old days are cold', async () => (await query(direct, hot)).length === 0, patience);
  }

  async #erase(): Promise<void> {
    const stored = `select from events where organization = 'acme' and automation_id = $1 and execution_id = 'run'`;
    const isStored = async () => (await query(this.#databases.first.direct, stored, [doomed])).length === 3;
    await until('what is erased is stored', isStored, patience);
    const why = ['--by', 'ana', '--reason', 'ticket 7'];
    await this.#admin('erase', '--organization', 'acme', '--automation', doomed, ...why, '--yes');
  }

  async #move(): Promise<void> {
    await this.#admin('move', '--organization', 'acme', '--to', 'eu');
  }

  /** Each accepted event is in the database of its organization once, with the right outcomes. */
  async #expectStored(organization: Organization, { ledger, automations }: Load): Promise<void> {
    const source = {
      query: <Row extends object>(sql: string, values?: unknown[]) => this.#rows<Row>(organization, sql, values),
    };
    let found: Audit | undefined;
    const isRight = async (): Promise<boolean> => {
      found = await audit(ledger, source, automations.ids, organization);
      return Object.entries(flawless).every(([name, count]) => found?.[name as keyof typeof flawless] === count);
    };
    await until('all is stored', isRight, patience).catch(() => undefined);
    expect(found, found?.findings.join('\n')).to.include(flawless);
  }

  /** A reader gets all events, those of the archive too, their outcomes, and the alert. */
  async #expectRead(console: RunningConsole, organization: Organization): Promise<void> {
    const isErased = organization === 'acme' && this.#chosen.has('erasure');
    const cold = this.#oldEvents.get(organization) ?? [];
    const rows = await this.#rows<EventRow>(organization, 'select * from events where organization = $1', [
      organization,
    ]);
    const events = [...rows.map(eventOf), ...cold];
    expect(events.filter(({ automationId }) => automationId === doomed)).to.have.lengthOf(isErased ? 0 : 3);
    const read = (path: string): Promise<Item[]> => this.#readAll(console, organization, path);
    const wanted = events.map(({ id, description, createdAt }) =>
      [id, description, new Date(createdAt).toISOString()].join(' '),
    );
    const isWhole = async () => (await read('/v1/events/')).length >= wanted.length;
    await until('the reader has it all', isWhole, patience).catch(() => undefined);
    const items = await read('/v1/events/');
    const given = items.map(({ id, description, created_at }) => [id, description, created_at].join(' '));
    expect(given.toSorted()).to.deep.equal(wanted.toSorted());
    const lostBefore = Date.now() - overdueAfterHours * 3_600_000;
    const outcomes = [...executionsOf(events).values()].map(({ automationId, executionId, state, lastEventAt }) => {
      const shown = state === 'running' && lastEventAt < lostBefore ? 'lost' : state;
      return [automationId, executionId, shown].join(' ');
    });
    let shown: string[] = [];
    // The controller looks for lost runs once a minute.
    const isRight = async (): Promise<boolean> => {
      shown = (await read('/v1/executions/')).map((item) => [item.automation, item.execution_id, item.state].join(' '));
      return isDeepStrictEqual(shown.toSorted(), outcomes.toSorted());
    };
    await until('the outcomes', isRight, patience).catch(() => undefined);
    expect(shown.toSorted()).to.deep.equal(outcomes.toSorted());
    const isTold = async () => (await read(`/v1/alerts/?automation_id=${failing}&kind=failing&open=true`)).length === 1;
    await until('an alert', isTold, patience);
  }

  async #readAll({ client }: RunningConsole, organization: Organization, path: string): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: string | null = null;
    do {
      const address = new URL(path, 'http://console');
      address.searchParams.set('limit', '500');
      if (cursor !== null) address.searchParams.set('cursor', cursor);
      const headers = { token: readToken(organization) };
      const answer = await client.send({ path: `${address.pathname}${address.search}`, headers });
      expect(answer.status, answer.body).to.equal(200);
      const page: { items: Item[]; next_cursor: string | null } = answer.json();
      items.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return items;
  }

  async #expectVerified(organization: Organization): Promise<void> {
    const unsealed = 'select from log_segments where organization = $1';
    const isSealed = async () => (await this.#rows(organization, unsealed, [organization])).length === 0;
    await until('all is sealed', isSealed, patience);
    const verify = ['verify', '--organization', organization, '--public-key', publicLogKey];
    const hasArchive = this.#chosen.has('archive');
    const { code, stdout, stderr } = await this.#run(...verify, ...(hasArchive ? ['--archive', this.#archive] : []));
    expect(stdout, `${stdout}${stderr}`).to.match(/^Nothing was lost, added or changed/);
    if (hasArchive) expect(stdout).to.match(/objects that the log knows, unchanged\.\n/);
    expect(code).to.equal(0);
  }
}
