import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import type { Context } from '../../../internal/intake/http/page-route.ts';
import type { Viewer } from '../../../internal/console/viewer.ts';
import { readToken, startConsole, type RunningConsole } from '../../support/console.ts';
import { lockRecord, queriesWaiting, storeEvents } from '../../support/reading.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const automation = '0190a0b0-0000-7000-8000-000000000001';

type Step = 'findViewer' | 'noteAccess';

describe('requests of a browser that has gone', () => {
  let database: TestDatabase;
  let console: RunningConsole;
  /** Another one in each test: each has limits of its own. */
  let viewer: Viewer;
  /** The step that holds requests, and what is told of a request that it holds. */
  let held: { step: Step; arrived: (ctx: Context) => void; release: Promise<void> } | undefined;

  before(async () => {
    database = await migratedDatabase();
    await storeEvents(database.db, { automationId: automation, executionId: 'run 1' });
    const hold = async (step: Step, ctx: Context): Promise<void> => {
      if (held?.step !== step) return;
      const { arrived, release } = held;
      held = undefined;
      arrived(ctx);
      await release;
    };
    const visitors = {
      findViewer: async (ctx: Context) => {
        await hold('findViewer', ctx);
        return viewer;
      },
      noteAccess: (ctx: Context) => hold('noteAccess', ctx),
    };
    const limits = { READ_CONCURRENCY: '1', STREAMS_PER_TOKEN: '1', CONSOLE_DATABASE_CONNECTIONS: '2' };
    console = await startConsole(database.url, limits, undefined, visitors);
    // Opens the connections that the suite keeps.
    const unlock = await lockRecord(database);
    await queriesWaiting(database, 0);
    await unlock();
    const organizations = Array.from({ length: 8 }, (_, index) => readToken(`org-${index}`));
    await Promise.all(
      organizations.map((token) => console.client.send({ path: '/v1/executions/', headers: { token } })),
    );
  });
  let tests = 0;
  beforeEach(() => {
    tests += 1;
    viewer = { subject: `viewer ${tests}`, name: 'ada', organizations: ['acme'] };
  });
  afterEach(() => {
    held = undefined;
    console.client.close();
  });
  after(async () => {
    await console.stop();
    await database[Symbol.asyncDispose]();
  });

  const headers = { accept: 'text/html', 'x-forwarded-proto': 'https' };
  const statusOf = async (path: string): Promise<number | undefined> => {
    const sent = request({ port: console.port, path, headers }).end();
    const [answer] = (await once(sent, 'response')) as [{ statusCode?: number; destroy: () => void }];
    answer.destroy();
    return answer.statusCode;
  };

  /** Gives a request up while a step holds it, and lets the step go on. */
  async function giveUpAt(step: Step, path: string): Promise<void> {
    const arrived = Promise.withResolvers<Context>();
    const release = Promise.withResolvers<void>();
    held = { step, arrived: arrived.resolve, release: release.promise };
    const sent = request({ port: console.port, path, headers }).on('error', () => undefined);
    sent.end();
    const { res } = await arrived.promise;
    sent.destroy();
    if (!res.closed) await once(res, 'close');
    release.resolve();
  }

  const page = '/o/acme/executions';
  const streams = ['/o/acme/live', '/o/acme/executions/live'];

  for (const path of [page, ...streams]) {
    for (const step of ['findViewer', 'noteAccess'] as const) {
      it(`keep no slot of their viewer, given up at ${step}: ${path}`, async () => {
        await giveUpAt(step, path);
        // A slot that is kept is never given back; the rate is one stream a second.
        await until(`an answer of ${path}`, async () => (await statusOf(path)) === 200);
        await until('no open stream', async () => !/runledger_streams_open [1-9]/.test(await metrics()));
      });
    }
  }

  it('keep no slot of their viewer, given up while Postgres is asked', async () => {
    const unlock = await lockRecord(database);
    const sent = request({ port: console.port, path: page, headers }).on('error', () => undefined);
    sent.end();
    await queriesWaiting(database, 1);
    sent.destroy();
    await unlock();
    await until(`an answer of ${page}`, async () => (await statusOf(page)) === 200);
  });

  const metrics = (): Promise<string> => console.telemetry.registry.metrics();

  it('count as refused while the viewer has as many as are allowed', async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<Context>();
    held = { step: 'noteAccess', arrived: arrived.resolve, release: release.promise };
    const first = statusOf(page);
    await arrived.promise;
    expect(await statusOf(page)).to.equal(429);
    release.resolve();
    expect(await first).to.equal(200);
  });
});
