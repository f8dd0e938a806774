import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { migrateToLatest } from '../../../internal/store/migrate.ts';
import { Child } from '../../support/child.ts';
import { failureOf } from '../../support/failure.ts';
import { query } from '../../support/postgres-server.ts';
import { dumpSchema, schemaFile } from '../../support/schema.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { openDatabase } from '../../support/store.ts';

const migrations = ['0001-baseline'];

describe('migrations', () => {
  it('run once, however many processes begin them at once', async function () {
    this.timeout(60_000);
    const url = await emptyDatabase();
    const env = { PATH: process.env['PATH'], DATABASE_URL: url };
    const processes = Array.from(
      { length: 4 },
      () => new Child(process.execPath, ['cmd/admin/main.ts', 'migrate'], { env }),
    );
    const codes = await Promise.all(processes.map(({ exited }) => exited));
    expect(codes, processes.flatMap(({ output }) => output).join('\n')).to.deep.equal(Array(4).fill(0));
    const ran = processes.flatMap(({ output }) => output).filter((line) => line.includes('0001-baseline'));
    expect(ran).to.have.length(1);
    const names = await query(url, 'select name from kysely_migration order by name');
    expect(names.map(({ name }) => name)).to.deep.equal(migrations);
    const unfinished = await query(url, 'select indexrelid::regclass from pg_index where not indisvalid');
    expect(unfinished).to.deep.equal([]);
  });

  it('leave a schema alone that a newer release has brought further, as after a rollback', async () => {
    const url = await emptyDatabase();
    const db = openDatabase(url);
    await migrateToLatest(db);
    await query(url, `insert into kysely_migration values ('9999-of-a-newer-release', now()::text)`);
    expect(await migrateToLatest(db)).to.deep.equal([]);
    await db.destroy();
  });

  it('refuse a database that cannot hold every text', async () => {
    const server = new URL(await emptyDatabase());
    await query(server.href, `create database latin encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'`);
    server.pathname = '/latin';
    const db = openDatabase(server.href);
    const failure = await failureOf(migrateToLatest(db));
    await db.destroy();
    expect(String(failure)).to.equal('Error: the database must have the encoding UTF8, it has LATIN1');
  });

  it('make the schema that is committed', async () => {
    expect(await dumpSchema(await emptyDatabase()), 'run `make schema` after a change').to.equal(
      await readFile(schemaFile, 'utf8'),
    );
  });
});
