import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Client } from 'pg';
import { openPostgres, type Database } from '../../../internal/store/database.ts';
import { isPartitioned } from '../../../internal/store/executions-copy.ts';
import { partitionExecutions } from '../../../internal/store/partition-executions.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { Child } from '../../support/child.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { recordAsFirstRelease } from '../../support/first-release.ts';
import { query } from '../../support/postgres-server.ts';
import { dumpSchema, schemaFile } from '../../support/schema.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { migratedUrl, openDatabase, openSession, wrongRunning } from '../../support/store.ts';
import { migrateUnpartitioned } from '../../support/unpartitioned.ts';
import { until } from '../../support/until.ts';

const all = { mostBytes: Number.MAX_SAFE_INTEGER, concurrently: true };

describe('partitions of executions', () => {
  it('are pruned to the one of the organization by a prepared statement too', async () => {
    await using session = await openSession(await migratedUrl());
    await session.query('set plan_cache_mode = force_generic_plan');
    await session.query(`prepare newest (text) as
      select execution_id from executions where organization = $1 order by first_event_at desc limit 50`);
    const { rows } = await session.query<Record<string, unknown>>(`explain (format json) execute newest ('acme')`);
    expect(JSON.stringify(rows)).to.contain('"Subplans Removed":15');
  });
});

describe('executions that move into partitions', function () {
  this.timeout(300_000);
  let template: string;
  let url: string;
  let db: Database;
  before(async () => {
    template = await emptyDatabase();
    await migrateUnpartitioned(template);
    await query(template, seed);
  });
  beforeEach(async () => {
    url = await emptyDatabase(new URL(template).pathname.slice(1));
    db = openDatabase(url, 60_000);
  });
  afterEach(() => db.destroy());

  const expectTruth = async (): Promise<void> => {
    expect(await isPartitioned(db, 'executions')).to.equal(true);
    const differences = '(table executions except table truth) union all (table truth except table executions)';
    expect(await query(url, differences)).to.deep.equal([]);
    expect(await wrongRunning(db)).to.deep.equal([]);
  };
  const store = (number: number): Promise<unknown> =>
    recordEvents(db, [
      anEvent({ organization: `org-${number % 40}`, executionId: `run ${number}`, kind: 'END' }),
      anEvent({ organization: `org-${number % 40}`, executionId: `new ${number}`, kind: 'START' }),
    ]);

  it('are all there, while two releases write, retention deletes and readers read', async () => {
    const over = new AbortController();
    const repeat = async (work: (turn: number) => Promise<unknown>): Promise<number> => {
      let turns = 0;
      for (; !over.signal.aborted; turns += 1) await work(turns);
      return turns;
    };
    const organization = 'quiet';
    const meanwhile = Promise.all([
      repeat((turn) => store(turn * 7)),
      repeat((turn) => store(turn * 11)),
      repeat((turn) => recordAsFirstRelease(db, [anEvent({ organization: 'org-1', executionId: `old ${turn >> 1}` })])),
      repeat((turn) => query(url, `delete from executions where execution_id = 'run ${turn * 13}'`)),
      repeat(async () => {
        const read = await db
          .selectFrom('executions')
          .select('state')
          .where('organization', '=', organization)
          .execute();
        expect(read).to.have.lengthOf(100);
      }),
    ]);
    await partitionExecutions(db, all).finally(() => over.abort());
    for (const turns of await meanwhile) expect(turns).to.be.above(0);
    await store(1);
    await expectTruth();
  });

  it('continue after the connection is lost at any statement, and writers do not notice', async () => {
    let attempts = 0;
    for (; attempts < 99 && !(await isPartitioned(db, 'executions')); attempts += 1) {
      await partitionUntil(url, 1 + attempts * 13);
      await store(attempts);
    }
    expect(attempts).to.be.above(5);
    await expectTruth();
  });

  it('continue when cmd/migrate is killed, which logs how far it is', async () => {
    const env = { PATH: process.env['PATH'], DATABASE_URL: url };
    await using reader = await openSession(url);
    // Only the replacement of the table waits for a reader.
    await reader.query('begin; select from executions limit 1');
    const killed = new Child(process.execPath, ['cmd/migrate/main.ts'], { env });
    await killed.line(/executions move into partitions/);
    await killed.kill('SIGKILL');
    await reader.query('commit');
    expect(await isPartitioned(db, 'executions')).to.equal(false);
    const [place] = await query<{ copied: number }>(
      url,
      'select copied::integer as copied from executions_partitioning',
    );
    expect(place?.copied).to.be.above(0);
    await store(1);
    const next = new Child(process.execPath, ['cmd/migrate/main.ts'], { env });
    expect(await next.exited, next.output.join('\n')).to.equal(0);
    const progress = next.output.find((line) => line.includes('executions move into partitions')) ?? '{}';
    expect((JSON.parse(progress) as { copied: number }).copied).to.be.at.least(place?.copied ?? Infinity);
    expect(next.output.join()).to.contain('executions has partitions');
    await expectTruth();
  });

  it('stay where they are while the table is too large, or a view needs it', async () => {
    const reasons: string[] = [];
    const onLeft = (reason: string): unknown => reasons.push(reason);
    await partitionExecutions(db, { ...all, mostBytes: 100_000, onLeft });
    await query(url, 'create view mine as select state from executions');
    await partitionExecutions(db, { ...all, onLeft });
    expect(reasons[0]).to.match(/^it has \d{7} bytes$/);
    expect(reasons[1]).to.equal('views depend on it: mine');
    expect(await query(url, `select to_regclass('executions_partitioned') as copy`)).to.deep.equal([{ copy: null }]);
  });

  it('have the schema and the rights that they have in a new database', async () => {
    await query(
      url,
      'drop table truth cascade; drop function keep_truth cascade; grant select on executions to public',
    );
    expect(await dumpSchema(url)).to.equal(await readFile(schemaFile, 'utf8'));
    expect(await query(url, `select has_table_privilege('public', 'executions', 'select') as may`)).to.deep.equal([
      { may: true },
    ]);
  });

  it('are copied again from the begin after `vacuum full`, and after a migration that added a column', async () => {
    const stopAfterOne = (): never => expect.fail('stopped');
    const stopped = (): Promise<unknown> => failureOf(partitionExecutions(db, { ...all, onProgress: stopAfterOne }));
    await query(url, `delete from executions where execution_id < 'run 5'`);
    expect(String(await stopped())).to.contain('stopped');
    await query(url, 'vacuum full executions');
    expect(String(await stopped())).to.contain('stopped');
    await query(url, 'alter table executions add column added integer; alter table truth add column added integer');
    await query(url, `update executions set added = 7 where organization = 'org-7'`);
    await partitionExecutions(db, all);
    await expectTruth();
  });
});

/**
 * Three chunks of executions, and a table that follows each of their changes by a trigger of its
 * own.
 */
const seed = `
  insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at, started_at, ended_at,
    start_count, event_count, warning_count, error_count, end_count)
  select case when number < 100 then 'quiet' else 'org-' || number % 40 end, '${anEvent().automationId}',
    case when number < 100 then 'quiet ' else 'run ' end || number,
    now() - number * interval '1 s', now(), now(), case when number % 5 > 0 then now() end, 1, 3, 0, 0, (number % 5 > 0)::integer
  from generate_series(0, 9999) as number;
  create table truth as table executions;
  alter table truth add primary key (organization, automation_id, execution_id);
  create function keep_truth() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' then
      delete from truth t
      where (t.organization, t.automation_id, t.execution_id) = (old.organization, old.automation_id, old.execution_id);
    end if;
    if tg_op <> 'DELETE' then
      insert into truth select new.*;
    end if;
    return null;
  end $$;
  create trigger keep_truth after insert or update or delete on executions for each row execute function keep_truth()`;

/**
 * Moves executions, and cuts its connections at its nth statement. Resolves once Postgres has
 * noticed.
 */
async function partitionUntil(url: string, statement: number): Promise<void> {
  const name = 'cut off';
  const options = { url, maxConnections: 2, statementTimeout: 0, applicationName: name };
  const db = openPostgres({ ...options, onIdleError: () => undefined, onNotDurable: () => undefined });
  const original = Reflect.get(Client.prototype, 'query') as (...given: unknown[]) => unknown;
  let left = statement;
  const cut = mock.method(Client.prototype, 'query', function (this: ClientInside, ...given: unknown[]): unknown {
    if (this.connectionParameters.application_name === name) {
      left -= 1;
      if (left <= 0) this.connection.stream.destroy();
    }
    return Reflect.apply(original, this, given);
  });
  try {
    await partitionExecutions(db, all).catch(() => undefined);
  } finally {
    cut.mock.restore();
    await db.destroy();
  }
  const sessions = `select from pg_stat_activity where application_name = '${name}'`;
  await until('the sessions end', async () => (await query(url, sessions)).length === 0);
}

/** Undocumented parts of a client. */
interface ClientInside {
  connectionParameters: { application_name?: string };
  connection: { stream: Socket };
}
