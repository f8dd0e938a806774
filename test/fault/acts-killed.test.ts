import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import { secretManifest, tokenEntry } from '../../internal/cluster/tokens/manifest.ts';
import { readAct } from '../../internal/ledger/act.ts';
import { readVerifierKey } from '../../internal/ledger/keys.ts';
import { actKeyOf, macKeyText } from '../../internal/ledger/mac.ts';
import { auditDatabase } from '../../internal/record/audit/audit-database.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { ApiClient } from '../support/api-client.ts';
import { anEvent } from '../support/events.ts';
import { freePort } from '../support/free-port.ts';
import { invoices, storeAlert, transition } from '../support/notify/expectations.ts';
import { PostgresServer, query } from '../support/postgres-server.ts';
import { RedisServer } from '../support/redis-server.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { logKey, macKey, publicLogKey, withLeaves } from '../support/sealed-ledger.ts';
import { migrate, openDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

const token = 'manage-token-of-acme-0123456789';

/** How the log and Activity name an act. */
const names = {
  mute: ['muted', 'muted'],
  acknowledge: ['alert-acknowledged', 'acknowledged'],
  close: ['run-closed', 'closed'],
} as const;

type Name = 'console' | 'worker';

describe('a mute, an acknowledgement and a closing', function () {
  this.timeout(300_000);
  const stack = new AsyncDisposableStack();
  const running = new Map<Name, RunledgerProcess>();
  let postgres: PostgresServer;
  let settings: Record<Name, Record<string, string>>;
  let api: ApiClient;

  before(async () => {
    postgres = stack.adopt(await PostgresServer.start(), (server) => server.stop());
    const redis = stack.adopt(await RedisServer.start(), (server) => server.stop());
    await migrate(postgres.url());
    const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'runledger-acts-')), (made) =>
      rm(made, { recursive: true }),
    );
    const tokens = join(folder, 'tokens.yaml');
    const entries = tokenEntry(token, 'manage');
    await writeFile(tokens, secretManifest({ organization: 'acme', scope: 'manage', entries }));
    const port = String(await freePort());
    const common = { DATABASE_URL: postgres.url(), REDIS_URL: redis.url, LOG_LEVEL: 'warn' };
    const key = macKeyText(actKeyOf(macKey), 'ACT');
    settings = {
      console: { ...common, PORT: port, TOKENS_FILE: tokens, LEDGER_MAC_KEY: key },
      worker: { ...common, LEDGER_KEY: logKey },
    };
    const headers = { token, 'x-forwarded-proto': 'https', 'content-type': 'application/json' };
    api = stack.adopt(new ApiClient(`http://127.0.0.1:${port}`, headers), (client) => client.close());
    stack.defer(async () => void (await Promise.all(Array.from(running.keys(), kill))));
  });
  after(() => stack.disposeAsync());

  const spawn = async (name: Name): Promise<RunledgerProcess> => {
    const process = new RunledgerProcess(name, { ...settings[name], OPS_PORT: String(await freePort()) });
    running.set(name, process);
    return process;
  };
  /** Resolves when it is ready, if it did not run. */
  const start = async (name: Name): Promise<void> => {
    if (running.get(name)?.child.alive !== true) await (await spawn(name)).ready();
  };
  const kill = async (name: Name): Promise<void> => void (await running.get(name)?.child.kill('SIGKILL'));
  const strikes = {
    'kill -9': kill,
    'a crash of Postgres': async () => {
      await postgres.kill('SIGKILL');
      await postgres.startAgain();
    },
  };

  /** Begins something, and strikes while a statement of it waits for a table. */
  const strikeAt = async <T>(
    table: 'acts' | 'log_acts',
    begin: () => Promise<T>,
    strike: () => Promise<void>,
  ): Promise<T> => {
    const holder = new Client(postgres.url());
    holder.on('error', () => undefined);
    await holder.connect();
    await holder.query(`begin; lock table ${table} in share mode`);
    const begun = begin();
    const waiting = `select from pg_locks where not granted and relation = '${table}'::regclass`;
    await until(`a statement waits for ${table}`, async () => (await query(postgres.url(), waiting)).length > 0);
    await strike();
    await holder.end();
    return begun;
  };

  for (const [how, strike] of Object.entries(strikes)) {
    it(`take effect once and are in the log once, whatever ${how} interrupts`, async () => {
      await using db = openDatabase(postgres.url());
      const executionId = randomUUID();
      const opened = transition('opened', { occurrence: executionId });
      await recordEvents(db, [anEvent({ kind: 'START', automationId: invoices, executionId })], withLeaves);
      await storeAlert(db, opened);
      const bodies = [
        { kind: 'mute', note: 'Patches', until: new Date(Date.now() + 3_600_000).toISOString() },
        { kind: 'acknowledge', note: 'Mine', alert: opened.alert.id },
        { kind: 'close', note: 'Gone', automation_id: invoices, execution_id: executionId, as: 'lost' },
      ] as const;
      for (const body of bodies) {
        const key = randomUUID();
        const content = JSON.stringify(body);
        const headers = { 'idempotency-key': key, 'content-length': String(content.length) };
        /** As a caller who repeats what is not answered. */
        const send = async (): Promise<boolean> => {
          const request = { method: 'POST', path: '/v1/acts/', headers, body: content };
          const { status } = await api.send(request).catch(() => ({ status: 0 }));
          return status === 201;
        };
        const [logged, noted] = names[body.kind];
        /** Undefined while Postgres starts again. */
        const rows = () =>
          db
            .selectFrom('acts')
            .select('recorded_at')
            .where('id', '=', key)
            .execute()
            .catch(() => undefined);
        const inLog = async () =>
          (await db.selectFrom('log_acts').select('act').execute())
            .map(({ act }) => readAct(act))
            .filter((act) => act.kind === logged).length;
        const before = await inLog();

        await start('console');
        const isAnswered = await strikeAt('acts', send, () => strike('console'));
        expect(isAnswered, 'an answer without its row').to.equal(false);
        await until('Postgres has undone it', async () => (await rows())?.length === 0);
        await start('console');
        const interrupted = send();
        await until('the row', async () => (await rows())?.length === 1);
        await strike('console');
        await interrupted;
        await start('console');
        await until('an answer', send, 30_000, 250);
        expect(await rows()).to.deep.equal([{ recorded_at: null }]);

        await strikeAt(
          'log_acts',
          () => spawn('worker'),
          () => strike('worker'),
        );
        await start('worker');
        const recorded = async () => (await rows())?.[0]?.recorded_at instanceof Date;
        await until('its leaf', recorded, 60_000);
        await strike('worker');
        await start('worker');
        await until('an answer again', send, 30_000, 250);
        expect(await rows()).to.have.length(1);
        expect(await inLog(), body.kind).to.equal(before + 1);
        const activity = db.selectFrom('access_log').select('action').where('action', '=', noted);
        expect(await activity.execute(), noted).to.not.deep.equal([]);
        await kill('worker');
      }
      const events = db.selectFrom('events').select('kind').where('execution_id', '=', executionId).orderBy('id');
      expect((await events.execute()).map(({ kind }) => kind)).to.deep.equal(['START', 'ERROR', 'END']);
      await start('worker');
      const keys = [readVerifierKey(publicLogKey)];
      const report = await until('every leaf is sealed', async () => {
        const found = await auditDatabase(db, { organization: 'acme', keys, kept: [] });
        return found.uncovered === 0 && found;
      });
      expect(report.findings).to.deep.equal([]);
      expect(report.absent).to.equal(0);
      await kill('worker');
    });
  }
});
