import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Database } from '../../../internal/store/database.ts';
import { Child } from '../../support/child.ts';
import { freePort } from '../../support/free-port.ts';
import { startIngest } from '../../support/pipeline.ts';
import { query } from '../../support/postgres-server.ts';
import { expectStored, storedMarks } from '../../support/rows.ts';
import { RunledgerProcess } from '../../support/runledger-process.ts';
import { emptyRedis } from '../../support/servers.ts';
import { tokenNamesOrganization, twoDatabases } from '../../support/two-databases.ts';
import { until } from '../../support/until.ts';

const automation = '0190a0b0-0000-7000-8000-000000000001';

/** Events of one request. */
const bulk = 50;

/** Sends events of an organization at a constant rate. */
class Sender implements AsyncDisposable {
  readonly accepted: string[] = [];
  readonly #name = randomUUID();
  readonly #sending: Promise<void>;
  #stopped = false;
  #sent = 0;

  /** @param rate events a second. */
  constructor(rate: number, send: (events: object[]) => Promise<{ status: number }>) {
    this.#sending = this.#sendAll(rate, send);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #sendAll(rate: number, send: (events: object[]) => Promise<{ status: number }>): Promise<void> {
    const begun = performance.now();
    const answers: Promise<void>[] = [];
    while (!this.#stopped) {
      answers.push(this.#sendOne(send));
      const dueMs = (this.#sent * 1_000) / rate;
      await sleep(Math.max(0, begun + dueMs - performance.now()));
    }
    await Promise.all(answers);
  }

  async #sendOne(send: (events: object[]) => Promise<{ status: number }>): Promise<void> {
    const marks = Array.from({ length: bulk }, () => `${this.#name} ${(this.#sent += 1)}`);
    const { status } = await send(
      marks.map((description, index) => ({
        automation_id: automation,
        execution_id: `run ${index}`,
        event: 'EVENT',
        description,
      })),
    );
    if (status === 201) this.accepted.push(...marks);
  }
}

/** An automation of both organizations. */
const declarations = ['acme', 'globex']
  .map(
    (organization) => `
apiVersion: v1
kind: Namespace
metadata: { name: ${organization}, labels: { runledger.dev/organization: ${organization} } }
---
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: nightly, namespace: ${organization} }
spec: { automationId: ${automation}, expect: { every: 1h } }
`,
  )
  .join('---');

/** Longest wait, in ms: for a test that hangs. */
const patience = 240_000;

describe('a move of an organization, with real processes', function () {
  this.timeout(900_000);

  it('loses and doubles nothing at 1,000 events/s, killed while it copies and once it has closed', async () => {
    const redis = await emptyRedis();
    await using databases = await twoDatabases();
    const { settings, first, eu } = databases;
    const common = { ...settings, REDIS_URL: redis.url };
    const worker = new RunledgerProcess('worker', { ...common, OPS_PORT: String(await freePort()) });
    await using _worker = { [Symbol.asyncDispose]: async () => void (await worker.child.kill('SIGKILL')) };
    const folder = await mkdtemp(join(tmpdir(), 'runledger-move-'));
    await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
    const file = join(folder, 'automations.yaml');
    await writeFile(file, declarations);
    const ofController = { ...common, OPS_PORT: String(await freePort()), AUTOMATIONS_FILE: file };
    const controller = new RunledgerProcess('controller', ofController);
    await using _controller = { [Symbol.asyncDispose]: async () => void (await controller.child.kill('SIGKILL')) };
    await worker.ready(patience);
    await using ingest = await startIngest(common, tokenNamesOrganization);
    const sendAs = (organization: string) => (events: object[]) =>
      ingest.client.register(events, { token: organization }, undefined, '/v1/register/bulk/');
    await using acme = new Sender(1_000, sendAs('acme'));
    await using globex = new Sender(200, sendAs('globex'));
    const move = (...more: string[]): Child =>
      new Child(process.execPath, ['cmd/admin/main.ts', 'move', '--organization', 'acme', ...more], {
        env: { PATH: process.env['PATH'], ...settings },
      });
    const movesUntil = (closed: boolean) =>
      until(
        'the move has come so far',
        async () => {
          const row = await first.db.selectFrom('moved_organizations').select('closed').executeTakeFirst();
          return row !== undefined && (row.closed || !closed);
        },
        patience,
      );

    await until('there is a record', async () => (await storedMarks(first.url)).length > 2_000, patience);
    const declared = async (db: Database): Promise<string> => {
      const rows = await db.selectFrom('automations').select('organization').orderBy('organization').execute();
      return rows.map(({ organization }) => organization).join();
    };
    await until('both are declared', async () => (await declared(first.db)) === 'acme,globex', patience);
    const copies = move('--to', 'eu');
    await movesUntil(false);
    await copies.kill('SIGKILL');
    const closes = move('--to', 'eu');
    await movesUntil(true);
    await closes.kill('SIGKILL');
    // The others continue while nothing continues the move.
    const before = globex.accepted.length;
    await until('more events', () => globex.accepted.length > before + 100, patience);
    expect(await move('--to', 'eu').exited).to.equal(0);
    const moved = acme.accepted.length;
    await until('more events', () => acme.accepted.length > moved + 500, patience);
    await Promise.all([acme.stop(), globex.stop()]);

    await expectStored(eu.url, acme.accepted, patience);
    const ticked = async () =>
      (await eu.db.selectFrom('controller_state').select('ticked_at').executeTakeFirst())?.ticked_at;
    const moveEnded = new Date();
    await until('a tick in the target', async () => ((await ticked()) ?? 0) > moveEnded, patience);
    expect([await declared(first.db), await declared(eu.db)]).to.deep.equal(['globex', 'acme']);
    expect(await query(eu.url, 'select * from alerts')).to.deep.equal([]);
    expect(await controller.metric('runledger_watermark_lag_seconds')).to.be.above(0);
    expect(await move('--clean').exited).to.equal(0);
    await expectStored(first.url, globex.accepted, patience);
    const [others] = await query(eu.url, `select count(*)::integer as count from events where organization <> 'acme'`);
    const [left] = await query(first.url, `select count(*)::integer as count from events where organization = 'acme'`);
    expect([others, left]).to.deep.equal([{ count: 0 }, { count: 0 }]);
  });
});
