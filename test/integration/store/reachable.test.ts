import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { untilReachable } from '../../../internal/store/reachable.ts';
import { Child } from '../../support/child.ts';
import { failureOf } from '../../support/failure.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { openDatabase } from '../../support/store.ts';

type Answer = (client: Socket) => void;

/**
 * A server at the later address of Postgres: gives this answer to the first `times` connections,
 * then forwards to Postgres.
 */
async function standIn(url: string, answer: Answer, times: number): Promise<AsyncDisposable & { url: string }> {
  const target = Number(new URL(url).port);
  const sockets = new Set<Socket>();
  let left = times;
  const server = createServer((client) => {
    sockets.add(client.on('error', () => undefined));
    left -= 1;
    if (left >= 0) return answer(client);
    const far = connect(target, '127.0.0.1').on('error', () => undefined);
    sockets.add(far);
    client.pipe(far).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: Object.assign(new URL(url), { port: String((server.address() as AddressInfo).port) }).href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const closes: Answer = (client) => client.end();
const isSilent: Answer = () => undefined;

/** An ErrorResponse of Postgres' protocol, as the answer to the client's first message. */
function refuses(code: string, message: string): Answer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return (client) => client.once('data', () => client.end(Buffer.concat([head, fields])));
}

/**
 * What waiting for that address ends with; undefined when it was reached. And what was said
 * meanwhile.
 */
async function waitFor(url: string, withinMs: number): Promise<{ failure: unknown; said: string[] }> {
  const db = openDatabase(url);
  const said: string[] = [];
  const failure = await failureOf(untilReachable(db, withinMs, (error) => said.push(String(error))));
  await db.destroy();
  return { failure, said };
}

describe('waiting for a Postgres that is coming up', function suite() {
  this.timeout(60_000);

  const comingUp: [string, Answer, RegExp][] = [
    ['a proxy that takes connections and closes them', closes, /Connection terminated unexpectedly/],
    ['PgBouncer, which cannot log in', refuses('08P01', 'server login has been failing, try again later'), /try again/],
    ['too many connections', refuses('53300', 'sorry, too many clients already'), /too many clients/],
    ['a server that starts up', refuses('57P03', 'the database system is starting up'), /starting up/],
    ['an address that says nothing', isSilent, /timeout/],
  ];
  for (const [name, answer, reason] of comingUp) {
    it(`keeps waiting at ${name}`, async () => {
      await using there = await standIn(await emptyDatabase(), answer, 1);
      const { failure, said } = await waitFor(there.url, 30_000);
      expect(failure).to.equal(undefined);
      expect(said).to.have.length(1);
      expect(said[0]).to.match(reason);
    });
  }

  it('ends with what was seen last', async () => {
    await using there = await standIn(await emptyDatabase(), closes, Infinity);
    expect(String((await waitFor(there.url, 600)).failure)).to.equal(
      'Error: Postgres did not answer within 600 ms: Connection terminated unexpectedly',
    );
  });

  const hopeless: [string, Answer][] = [
    ['a wrong password', refuses('28P01', 'password authentication failed for user "runledger"')],
    ['a user who may not come from here', refuses('28000', 'no pg_hba.conf entry for host')],
    ['a database that is not there', refuses('3D000', 'database "none" does not exist')],
    ['a missing privilege', refuses('42501', 'permission denied for database "runledger"')],
  ];
  for (const [name, answer] of hopeless) {
    it(`ends at once at ${name}`, async () => {
      await using there = await standIn(await emptyDatabase(), answer, 1);
      const { failure, said } = await waitFor(there.url, 30_000);
      expect(failure).to.have.property('code');
      expect(said).to.deep.equal([]);
    });
  }

  it('ends at once at a password that is needed and not given', async () => {
    // AuthenticationSASL with the mechanism SCRAM-SHA-256, and AuthenticationSASLContinue.
    const asked = ['R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'R\0\0\0\x09\0\0\0\x0bx'];
    const asks: Answer = (client) => client.on('data', () => client.write(asked.shift() ?? '', 'latin1'));
    await using there = await standIn(await emptyDatabase(), asks, 1);
    const { failure, said } = await waitFor(there.url, 30_000);
    expect(String(failure)).to.match(/client password must be a string/);
    expect(said).to.deep.equal([]);
  });

  it('ends at once at an invalid address', async () => {
    const { failure, said } = await waitFor('postgres://postgres@127.0.0.1:99999/none', 30_000);
    expect(failure).to.be.instanceOf(Error);
    expect(said).to.deep.equal([]);
  });
});

function migrate(url: string): Child {
  return new Child('node', ['cmd/admin/main.ts', 'migrate'], {
    env: { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'info' },
  });
}

describe('migrate', function suite() {
  this.timeout(60_000);

  it('waits for a Postgres that is coming up', async () => {
    const server = await PostgresServer.start();
    try {
      await server.kill();
      const child = migrate(server.url());
      expect(await child.line(/waiting for postgres/)).to.contain('ECONNREFUSED');
      await server.startAgain();
      expect(await child.exited, child.output.join('\n')).to.equal(0);
      expect(await server.query('select count(*)::integer as rows from events')).to.deep.equal([{ rows: 0 }]);
    } finally {
      await server.stop();
    }
  });

  it('fails at once for an error that waiting cannot solve', async () => {
    const child = migrate((await emptyDatabase()).replace(/[^/]*$/, 'missing'));
    expect(await child.exited).to.equal(1);
    expect(child.output.join('\n')).to.include('migrate: database "missing" does not exist');
  });
});
