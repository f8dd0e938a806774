import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import type * as eventModule from '../../internal/event/event.ts';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type * as validateModule from '../../internal/event/validate.ts';
import type * as idempotencyModule from '../../internal/queue/keys/idempotency.ts';
import type * as jobModule from '../../internal/queue/job/job.ts';
import type * as marksModule from '../../internal/console/parts/marks.ts';
import type * as linesModule from '../../internal/record/formats/csv-lines.ts';
import type * as formatsModule from '../../internal/record/formats/formats.ts';
import type * as queriesModule from '../../internal/record/queries.ts';
import type * as lettersModule from '../../internal/store/dead-letters.ts';
import type * as restoringModule from '../support/restore-letter.ts';
import type * as recordModule from '../../internal/store/record-events.ts';
import { csv } from '../../internal/record/formats/text-formats.ts';
import { provenEventOf } from '../../internal/record/stored-event.ts';
import { isKnownRow, isRow, toRow, type Row } from '../../internal/queue/job/job.ts';
import { IdempotencyKeys, type Claim, type Keyed } from '../../internal/queue/keys/idempotency.ts';
import { overflowQueue } from '../../internal/queue/keys/keys.ts';
import { secretManifest } from '../../internal/cluster/tokens/manifest.ts';
import { ApiClient } from '../support/api-client.ts';
import { anEvent } from '../support/events.ts';
import { failureOf } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { token } from '../support/pipeline.ts';
import { query } from '../support/postgres-server.ts';
import { withQueue } from '../support/queue.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { emptyRedis } from '../support/servers.ts';
import { migratedDatabase, migratedUrl } from '../support/store.ts';
import { until } from '../support/until.ts';

/** The whole change: one entry at the end of the table of fields. */
const entry =
  "{ property: 'place', request: 'place', recorded: 'place', column: 'place', maxLength: 9, shown: 'mark' },";

/** The migrations of the release that adds it, and of the one after, which contracts. */
const migrations = {
  '0002-place': `alter table events add column place text not null default ''`,
  '0003-place-is-written': `alter table events alter column place drop default`,
};

describe('a field added to the table of fields', function () {
  this.timeout(600_000);
  let root: string;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'runledger-field-'));
    for (const name of ['internal', 'cmd', 'test/support/restore-letter.ts', 'package.json', 'tsconfig.json']) {
      await cp(name, join(root, name), { recursive: true });
    }
    await symlink(resolve('node_modules'), join(root, 'node_modules'));
    const table = join(root, 'internal/event/fields.ts');
    const text = await readFile(table, 'utf8');
    await writeFile(table, text.replace('] as const satisfies', `  ${entry}\n] as const satisfies`));
  });

  after(() => rm(root, { recursive: true }));

  /** A module of the changed tree. Its types are those of this tree. */
  const changed = <Module>(path: string): Promise<Module> => import(join(root, path)) as Promise<Module>;

  const eventLike = (event: AcceptedEvent, place: string): AcceptedEvent => ({ ...event, place }) as AcceptedEvent;
  const eventWith = (place: string): AcceptedEvent => eventLike(anEvent(), place);

  it('compiles', async () => {
    const tsc = resolve('node_modules/.bin/tsc');
    const output = await promisify(execFile)(tsc, ['--pretty', 'false', '--singleThreaded'], { cwd: root }).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
    const files = new Set(Array.from(output.matchAll(/^(\S+?)\(/gm), ([, file]) => file));
    expect([...files]).to.deep.equal([]);
  });

  it('is validated, accepted and recorded', async () => {
    const { createEventValidator } = await changed<typeof validateModule>('internal/event/validate.ts');
    const { acceptEvent, recordedForm } = await changed<typeof eventModule>('internal/event/event.ts');
    const validate = createEventValidator();
    const body = { automation_id: anEvent().automationId, execution_id: 'run', event: 'START' };
    const record = (more: object) => recordedForm(acceptEvent(validate({ ...body, ...more }), 'acme', anEvent()));
    expect(record({ place: 'Paris' })).to.include({ place: 'Paris' });
    expect(record({})).to.include({ place: '' });
    const failure = await failureOf(Promise.resolve().then(() => record({ place: 'longer than 9' })));
    expect(failure).to.have.deep.property('faults', [
      { pointer: '/place', detail: 'must not be longer than 9 characters' },
    ]);
  });

  it('travels in jobs: each release reads those of the other that hold no more than it knows', async () => {
    const job = await changed<typeof jobModule>('internal/queue/job/job.ts');
    const event = eventWith('Paris');
    expect(job.fromRow(job.toRow(event))).to.deep.equal(event);

    const without = job.toRow(eventWith(''));
    expect([isRow(without), isKnownRow(without), isKnownRow(job.toRow(event))]).to.deep.equal([true, true, false]);

    const older: unknown = toRow(event);
    expect(job.isRow(older)).to.equal(true);
    expect(job.fromRow(older as Row)).to.deep.equal(eventLike(event, ''));
  });

  it('is stored in its column, searched, shown, exported beside exports of before, and counted in the size of a page', async () => {
    const { recordEvents } = await changed<typeof recordModule>('internal/store/record-events.ts');
    await using database = await migratedDatabase();
    const { db } = database;
    await sql`alter table events add column place text not null default ''`.execute(db);
    await recordEvents(db, [eventWith('Paris')]);
    const { rows } = await sql`select place from events`.execute(db);
    expect(rows).to.deep.equal([{ place: 'Paris' }]);

    const { createQueries } = await changed<typeof queriesModule>('internal/record/queries.ts');
    const list = (q: string) => createQueries(db).listEvents('acme', { q }, { limit: 9 });
    expect(await list('Rome')).to.have.deep.property('items', []);
    const [found] = (await list('paris')).items;
    if (found === undefined) throw new Error('the event is not found');
    const { marksOf } = await changed<typeof marksModule>('internal/console/parts/marks.ts');
    expect(marksOf(found).join('')).to.contain('title="place"><bdi>Paris</bdi>');
    const { exportFormats } = await changed<typeof formatsModule>('internal/record/formats/formats.ts');
    for (const format of [exportFormats.csv, exportFormats.ndjson])
      expect(format.begin(false).add([found])).to.contain('Paris');

    const { csvLines } = await changed<typeof linesModule>('internal/record/formats/csv-lines.ts');
    const before = csv
      .begin(false)
      .add([provenEventOf(await db.selectFrom('events').selectAll().executeTakeFirstOrThrow())]);
    await writeFile(join(root, 'before.csv'), before);
    for await (const line of csvLines(join(root, 'before.csv'))) expect(line).to.contain(`"id":"${found.id}"`);

    const long = 'long'.repeat(400_000);
    await recordEvents(db, [long, long, long].map(eventWith));
    expect((await list('long')).items).to.have.length(2);
  });

  it('is restored from a dead letter, also from one of the release before', async () => {
    const { keepDeadLetter } = await changed<typeof lettersModule>('internal/store/dead-letters.ts');
    const { restoringStatement } = await changed<typeof restoringModule>('test/support/restore-letter.ts');
    await using database = await migratedDatabase();
    const { db } = database;
    await sql`alter table events add column place text not null`.execute(db);
    for (const letter of [anEvent(), eventWith('Paris')]) {
      await keepDeadLetter(db, letter, 'why');
      const [, statement = ''] = /```sql([^]*)```/.exec(restoringStatement()) ?? [];
      await sql.raw(statement.replace('<id>', letter.id)).execute(db);
    }
    const { rows } = await sql`select place from events order by place`.execute(db);
    expect(rows).to.deep.equal([{ place: '' }, { place: 'Paris' }]);
  });

  it('does not turn a keyed retry across the deploy into a 422, and tells other bodies apart afterwards', async () => {
    const newer = await changed<typeof idempotencyModule>('internal/queue/keys/idempotency.ts');
    const redis = new Redis((await emptyRedis()).url);
    try {
      const place = { redis, key: 'events' };
      const options = { all: [place], placesOf: () => [place] as const, keptMs: 60_000, callers: { open: 1 } };
      const before = new IdempotencyKeys(options);
      const after = new newer.IdempotencyKeys(options);
      const keyed = (key: string, event: AcceptedEvent): Keyed => ({ key: ['caller', key], events: [event] });
      const reserve = async (keys: IdempotencyKeys, key: string, event: AcceptedEvent) =>
        (await keys.reserve(keyed(key, event))) as Claim;
      const event = eventWith('Paris');
      for (const [key, first, second] of [
        ['up', before, after],
        ['down', after, before],
      ] as const) {
        const claim = await reserve(first, key, event);
        expect(claim).to.deep.include({ events: [event], committed: false });
        first.markCommitted(claim);
        expect(await reserve(second, key, event)).to.deep.include({ events: [event], committed: true });
      }
      after.markCommitted(await reserve(after, 'same release', event));
      expect(await reserve(after, 'same release', event)).to.include({ committed: true });
      expect(await reserve(after, 'same release', eventLike(event, 'Rome'))).to.have.property(
        'code',
        'idempotency-key-reused',
      );
    } finally {
      redis.disconnect();
    }
  });

  /** Adds the next migration to the changed tree, as CONTRIBUTING says. */
  async function addMigration(name: keyof typeof migrations): Promise<void> {
    const up = `import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`set local lock_timeout = '200ms'\`.execute(db);
  await sql\`${migrations[name]}\`.execute(db);
}
`;
    await writeFile(join(root, `internal/store/migrations/${name}.ts`), up);
    const list = join(root, 'internal/store/migrate.ts');
    const text = await readFile(list, 'utf8');
    const constant = `step${name.slice(0, 4)}`;
    const named = text.replace(/(const migrations = \{.*) \}/, `$1, '${name}': ${constant} }`);
    await writeFile(list, `import * as ${constant} from './migrations/${name}.ts';\n${named}`);
  }

  it('loses, doubles and miscounts nothing in an upgrade under load, in any order of deploys, nor in a rollback', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const tokens = join(root, 'tokens.yaml');
    await writeFile(tokens, secretManifest({ organization: 'acme', entries: { token } }));
    await using all = new AsyncDisposableStack();
    const start = async (kind: 'ingest' | 'worker', release: 'old' | 'new') => {
      const port = String(await freePort());
      const settings = {
        OPS_PORT: String(await freePort()),
        REDIS_URL: redis.url,
        ...(kind === 'worker' ? { DATABASE_URL: database } : { PORT: port, TOKENS_FILE: tokens, OVERFLOW_RATE: '50' }),
      };
      const running = new RunledgerProcess(kind, settings, release === 'new' ? { cwd: root } : {});
      all.defer(async () => void (await running.child.kill('SIGKILL')));
      await running.ready();
      return { running, url: `http://127.0.0.1:${port}` };
    };
    const migrate = async (release: 'old' | 'new'): Promise<string> => {
      const env = { PATH: process.env['PATH'], DATABASE_URL: database };
      const cwd = release === 'new' ? root : '.';
      return (await promisify(execFile)(process.execPath, ['cmd/admin/main.ts', 'migrate'], { cwd, env })).stdout;
    };
    const sent = new Map<string, string>();
    const callers = new Map<string, { stop: AbortController; ended: Promise<unknown> }>();
    /** Callers of one ingest, until it is stopped. */
    const call = ({ url }: { url: string }): void => {
      const stop = new AbortController();
      const client = new ApiClient(url, { token, 'x-forwarded-proto': 'https' });
      const caller = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const id = randomUUID();
          const body = {
            automation_id: anEvent().automationId,
            execution_id: id,
            event: id < '8' ? 'START' : 'ERROR',
            place: id.slice(0, 8),
          };
          const answer = await client.register(body);
          expect(answer.status, answer.body).to.equal(201);
          sent.set(id, answer.json<{ place?: string }>().place ?? '');
          await sleep(10);
        }
      };
      const ended = Promise.all(Array.from({ length: 4 }, caller)).finally(() => client.close());
      ended.catch(() => undefined);
      callers.set(url, { stop, ended });
    };
    const end = async ({ running, url }: Awaited<ReturnType<typeof start>>): Promise<void> => {
      callers.get(url)?.stop.abort();
      await callers.get(url)?.ended;
      expect(await running.child.kill()).to.equal(0);
    };
    const stored = async (): Promise<Map<string, unknown>> => {
      const rows = await query(
        database,
        `select execution_id, coalesce(to_jsonb(e)->>'place', '') as place from events e`,
      );
      expect(new Set(rows.map((row) => row['execution_id']))).to.have.length(rows.length);
      return new Map(rows.map((row) => [String(row['execution_id']), row['place']]));
    };
    /** Resolves once all that was sent by now with such a place is stored as it was answered. */
    const allStored = async (which: (place: string) => boolean): Promise<void> => {
      const wanted = [...sent].filter(([, place]) => which(place));
      await until(
        'all are stored',
        async () => {
          const found = await stored();
          if (wanted.every(([id, place]) => found.get(id) === place)) return true;
          // Jobs that waited for another worker would go on waiting, for up to 30 s.
          for (const name of ['events', overflowQueue('events')])
            await withQueue(redis.url, (queue) => queue.promoteJobs(), name);
          return false;
        },
        60_000,
        500,
      );
    };
    const moreSent = async (which: (place: string) => boolean): Promise<void> => {
      const count = (): number => [...sent.values()].filter(which).length;
      const before = count();
      await until('more is sent', () => count() > before + 50);
    };
    const withPlace = (place: string): boolean => place !== '';
    const without = (place: string): boolean => place === '';
    const waiting = (worker: Awaited<ReturnType<typeof start>>): Promise<unknown> =>
      until('jobs wait', async () => (await worker.running.metric('runledger_jobs_unreadable_total')) > 5);

    // The schema first, under the load of the old release: it expands.
    const [oldIngest, oldWorker] = await Promise.all([start('ingest', 'old'), start('worker', 'old')]);
    call(oldIngest);
    await moreSent(without);
    await addMigration('0002-place');
    expect(await migrate('new')).to.include('"migrations":["0002-place"]');

    // Then ingest: its jobs wait, those of the other pod do not.
    const newIngest = await start('ingest', 'new');
    call(newIngest);
    await moreSent(withPlace);
    await waiting(oldWorker);
    await moreSent(without);
    await allStored(without);
    expect(
      [...(await stored()).values()].filter((place) => typeof place === 'string' && withPlace(place)),
    ).to.deep.equal([]);
    const newWorker = await start('worker', 'new');
    await end(oldIngest);
    await moreSent(withPlace);
    await end(oldWorker);
    await allStored(() => true);

    // A rollback, workers first: what was accepted with a place is kept.
    expect(await migrate('old')).to.include('"migrations":[]');
    const [backIngest, backWorker] = await Promise.all([start('ingest', 'old'), start('worker', 'old')]);
    call(backIngest);
    await end(newWorker);
    await moreSent(withPlace);
    await waiting(backWorker);
    await end(newIngest);
    await moreSent(without);

    // Once more, workers first. Nobody of the old release is left: the schema contracts.
    const againWorker = await start('worker', 'new');
    await end(backWorker);
    const againIngest = await start('ingest', 'new');
    call(againIngest);
    await end(backIngest);
    await addMigration('0003-place-is-written');
    expect(await migrate('new')).to.include('"migrations":["0003-place-is-written"]');
    await moreSent(withPlace);
    await end(againIngest);
    await allStored(() => true);
    await end(againWorker);

    expect(await stored()).to.deep.equal(sent);
    const [counted] = await query(
      database,
      `select count(*)::integer as executions, sum(start_count + error_count)::integer as events,
         count(*) filter (where (state = 'running') <> (execution_id < '8'))::integer as wrong from executions`,
    );
    expect(counted).to.deep.equal({ executions: sent.size, events: sent.size, wrong: 0 });
    expect(await query(database, 'select * from dead_letters')).to.deep.equal([]);
  });
});
