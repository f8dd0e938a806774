import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Enqueue } from '../../internal/intake/ways/register.ts';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { unavailable } from '../../internal/kit/errors/request-error.ts';
import { createStore } from '../../internal/store/store.ts';
import { startApi } from '../support/api-server.ts';
import { readToken, startConsole } from '../support/console.ts';
import { failureOf } from '../support/failure.ts';
import { chart } from '../support/helm.ts';
import { migratedDatabase } from '../support/store.ts';

/**
 * Runs what the pod of `helm test` runs, against the API behind a proxy that ends TLS. Rejects with
 * its stderr.
 */
async function helmTest(enqueue: Enqueue, plainHttp = true, more: Record<string, string> = {}): Promise<string[]> {
  await using api = await startApi(enqueue);
  const url = `http://127.0.0.1:${api.port}`;
  const script = await readFile(join(chart, 'files/post-an-event.mjs'), 'utf8');
  await using folder = await mkdtempDisposable(join(tmpdir(), 'runledger-helm-test-'));
  const [TOKEN_FILE, READ_TOKEN_FILE] = [join(folder.path, 'token'), join(folder.path, 'read-token')];
  await writeFile(TOKEN_FILE, 'x');
  await writeFile(READ_TOKEN_FILE, readToken());
  const files = { TOKEN_FILE, READ_TOKEN_FILE };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: {
      HTTPS_URL: url,
      ...files,
      FORWARDED_PROTO: 'https',
      ...(plainHttp && { HTTP_URL: url }),
      ...more,
    },
  });
  return stdout.trim().split('\n');
}

describe('chart, what helm test runs', () => {
  it('leaves an execution that has ended', async () => {
    const events: AcceptedEvent[] = [];
    const said = await helmTest((event) => {
      events.push(event);
      return Promise.resolve(event);
    });
    expect(said).to.deep.equal([
      'ok: POST over plain HTTP: 301',
      'ok: ping over HTTPS: 200',
      'ok: event over HTTPS: 201',
    ]);
    expect(events.map(({ kind }) => kind)).to.deep.equal(['START', 'END']);
    expect(new Set(events.map(({ automationId, executionId }) => `${automationId} ${executionId}`))).to.have.length(1);
  });

  it('sends nothing over plain HTTP without HTTP_URL', async () => {
    expect(await helmTest((event) => Promise.resolve(event), false)).to.deep.equal([
      'skipped: POST over plain HTTP: it has no known address here',
      'ok: ping over HTTPS: 200',
      'ok: event over HTTPS: 201',
    ]);
  });

  it('reads the execution back from the console', async () => {
    await using database = await migratedDatabase();
    await using console = await startConsole(database.url);
    const store = createStore(database.db, {
      partitionsAhead: 1,
      retentionDays: 0,
      overdueAfterHours: 24,
    });
    const enqueue: Enqueue = async (event) => {
      await store.recordEvents([event]);
      return event;
    };
    const reading = {
      CONSOLE_URL: `http://127.0.0.1:${console.port}`,
      CONSOLE_FORWARDED_PROTO: 'https',
    };
    const said = await helmTest(enqueue, true, reading);
    expect(said.at(-1)).to.equal('ok: execution from the console: 200');
  });

  for (const refused of ['START', 'END']) {
    it(`fails when ${refused} gets no receipt`, async () => {
      const enqueue: Enqueue = (event) =>
        event.kind === refused ? Promise.reject(unavailable('Redis is unavailable.')) : Promise.resolve(event);
      expect(String(await failureOf(helmTest(enqueue)))).to.match(
        /event over HTTPS: expected 201, got 503 .*Redis is unavailable\./,
      );
    });
  }
});
