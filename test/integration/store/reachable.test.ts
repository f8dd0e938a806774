import { expect } from 'chai';
import { Child } from '../../support/child.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { emptyDatabase } from '../../support/servers.ts';

function migrate(url: string): Child {
  return new Child('node', ['cmd/migrate/main.ts'], { env: { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'info' } });
}

describe('migrate', function suite() {
  this.timeout(60_000);

  it('waits for a Postgres that is coming up', async () => {
    const server = await PostgresServer.start();
    try {
      await server.kill();
      const child = migrate(server.url());
      await child.line(/waiting for postgres/);
      await server.startAgain();
      expect(await child.exited, child.output.join('\n')).to.equal(0);
      expect(await server.query('select count(*)::integer as rows from events')).to.deep.equal([{ rows: 0 }]);
    } finally {
      await server.stop();
    }
  });

  it('says at once what time does not mend', async () => {
    const child = migrate((await emptyDatabase()).replace(/[^/]*$/, 'missing'));
    expect(await child.exited).to.equal(1);
    expect(child.output.join('\n')).to.include('runledger: could not start: database "missing" does not exist');
  });
});
