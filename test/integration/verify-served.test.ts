import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { writeAct } from '../../internal/ledger/act.ts';
import { createKeyPair } from '../support/certificate.ts';
import { anEvent } from '../support/events.ts';
import type { AdminRun } from '../support/admin.ts';
import { findingsOf, runVerify, seal280 } from '../support/run-verify.ts';
import { servedBy } from '../support/sealed-ledger.ts';
import { eachDatabase } from '../support/store.ts';
import { testFiles } from '../support/test-files.ts';
import { startWitness } from '../support/witness-server.ts';

const events = Array.from({ length: 280 }, (_, at) =>
  anEvent({ createdAt: Date.now() - 300 + at, description: `mark ${at}`, executionId: `run ${at % 7}` }),
);

/** An answer of the console: its body, or another status. */
type Answer = Buffer | string | { status: number; headers?: Record<string, string>; body?: string } | undefined;

/** A console that answers to the paths below the prefix of its log. */
async function startServing(answer: (path: string) => Answer) {
  const server = createServer(({ url = '' }, response) => {
    const given = answer(url.replace('/v1/log/', ''));
    if (given === undefined) response.writeHead(404).end();
    else if (typeof given === 'string' || Buffer.isBuffer(given)) response.end(given);
    else response.writeHead(given.status, given.headers).end(given.body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/log`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

describe('verify with the console', () => {
  const database = eachDatabase();
  const files = testFiles();
  beforeEach(() => seal280(database.db, events));

  const verify = async (url: string, ...args: string[]): Promise<AdminRun> =>
    runVerify('', ['--log', url, '--read-token-file', await files.write('token', 'secret\n'), ...args]);

  it('asks witnesses about the checkpoint that it compared, also if the console changes its answer', async () => {
    const served = await servedBy(database.db, []);
    const other = String((await servedBy(database.db, [], 'globex')).get('checkpoint'));
    await using witness = await startWitness();
    const line = await witness.cosign(other);
    let asked = 0;
    await using console = await startServing((path) =>
      path === 'checkpoint' && (asked += 1) > 1 ? other + line : served.get(path),
    );
    expect(findingsOf(await verify(console.url, '--witness', witness.publicKey))).to.equal(
      'The witness witness.example has not cosigned the checkpoint.\n',
    );
  });

  it('repeats a request that the console limits, or cannot answer now', async () => {
    const served = await servedBy(database.db, []);
    const refused = new Map<string, number>();
    const later = { 'Retry-After': '0' };
    await using console = await startServing((path) => {
      const times = (refused.get(path) ?? 0) + 1;
      refused.set(path, times);
      return times > 2 ? served.get(path) : { status: times === 1 ? 429 : 503, headers: later };
    });
    expect((await verify(console.url)).stdout).to.match(/: the log of acme has 280 leaves, and extends 1 checkpoint\./);
  });

  it('says why the console gives no leaves', async () => {
    const served = await servedBy(database.db, []);
    let answer: Answer = { status: 401 };
    await using console = await startServing((path) => (path === 'checkpoint' ? served.get(path) : answer));
    expect((await verify(console.url)).stderr).to.equal(
      `verify: The console answers 401 to ${console.url}/tile/entries/000.\n`,
    );
    answer = { status: 403, body: '{"detail":"A read token is needed."}' };
    expect((await verify(console.url)).stderr).to.equal(
      `verify: The console answers 403 to ${console.url}/tile/entries/000: A read token is needed.\n`,
    );
  });

  it('finds that the console has no more what its checkpoint covers, and waits for the leaf of an act', async () => {
    const served = await servedBy(database.db, []);
    const { id, createdAt } = anEvent();
    const act = { id, organization: 'acme', kind: 'muted', at: new Date(createdAt), by: 'ana', details: {} } as const;
    served.set('acts', `${writeAct(act)}\n`);
    await using console = await startServing((path) => served.get(path));
    const waits = await verify(console.url);
    expect(waits.stdout).to.contain(
      `The act ${id} is not in the log yet, so nothing proves it: check again in a minute.\n`,
    );
    expect(waits.code).to.equal(2);
    served.delete('tile/entries/000');
    expect(findingsOf(await verify(console.url))).to.equal(
      'The log lacks tile/entries/000, although its checkpoint has 280 leaves: it was removed.\n',
    );
  });

  it('says whose log the console shows, if it is another one', async () => {
    const served = await servedBy(database.db, [], 'globex');
    await using console = await startServing((path) => served.get(path));
    expect(await verify(console.url)).to.deep.include({
      code: 2,
      stderr:
        'verify: The checkpoint is of the log log.example.org/globex, not of log.example.org/acme: another organization or key.\n',
    });
  });

  it('names the setting for a certificate that it does not trust', async () => {
    const { cert, key } = await createKeyPair('127.0.0.1');
    const server = createSecureServer({ cert, key });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1/log`;
    const { stderr } = await verify(url);
    server.close();
    expect(stderr).to.match(/ cannot be read: .+\. NODE_EXTRA_CA_CERTS names a file with its certificate\.\n$/);
  });
});
