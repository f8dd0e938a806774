import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { JobCapture } from '../../internal/controller/capture/job-capture.ts';
import { createIdentitySource } from '../../internal/event/identity.ts';
import type { EventGroup } from '../../internal/event/event.ts';
import { podAccount } from '../../internal/cluster/pod-account.ts';
import { captureMetrics } from '../../internal/controller/capture/capture-metrics.ts';
import { createRegistry } from '../../internal/kit/telemetry/metrics.ts';
import { DeclaredCluster, rulesOfController } from '../support/cluster/declared-cluster.ts';
import { installDefinitions } from '../support/cluster/automation-definitions.ts';
import { JobPlayer } from '../support/cluster/job-player.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { freePort } from '../support/free-port.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { emptyRedis } from '../support/servers.ts';
import { eachDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

const jobs = 500;
/** So many start while a controller runs; a fifth of them is deleted while none does. */
const seen = 50;
const kills = 2;

describe('500 Jobs, while controllers are killed', () => {
  const database = eachDatabase();
  let processes: RunledgerProcess[];
  let player: JobPlayer;
  let world: DeclaredCluster;
  before(() => installDefinitions(sharedCluster()));
  beforeEach(async () => {
    processes = [];
    world = new DeclaredCluster(await rulesOfController('controller.captureJobs.enabled=true'));
    const labels = { 'runledger.dev/organization': 'acme', 'runledger.dev/capture': 'true' };
    player = await JobPlayer.inNamespace(world.namespace('acme'), labels);
  });
  afterEach(async () => {
    await Promise.all(processes.map(({ child }) => child.kill('SIGTERM')));
    await player.deleteAll();
    await world.stop();
  });

  /** Makes and finishes a Job, or deletes it: the kinds that its record must have. */
  const play = async (index: number): Promise<void> => {
    const name = `job-${index}`;
    const end = new Date();
    const begin = index < seen ? undefined : new Date(end.getTime() - 60_000);
    if (begin !== undefined) await player.create(name);
    if (index < seen && index % 5 === 1) await player.delete(name);
    else if (index % 5 === 0) await player.fail(name, end, begin);
    else await player.complete(name, end, begin);
  };

  const playAll = async (from: number, to: number, work: (index: number) => Promise<unknown>): Promise<void> => {
    let next = from;
    const lanes = Array.from({ length: 8 }, async () => {
      while (next < to) await work(next++);
    });
    await Promise.all(lanes);
  };

  const countRows = async (): Promise<number> =>
    Number(
      (
        await database.db
          .selectFrom('captured_jobs')
          .select(sql`count(*)`.as('rows'))
          .execute()
      )[0]?.rows,
    );

  it('are all in the record once, with the right outcome', async () => {
    const settings = { DATABASE_URL: database.url, REDIS_URL: (await emptyRedis()).url };
    const apiServer = new URL(sharedCluster().url);
    const account = {
      TOKENS_ACCOUNT_DIR: await world.account(),
      KUBERNETES_SERVICE_HOST: apiServer.hostname,
      KUBERNETES_SERVICE_PORT: apiServer.port,
      CAPTURE_JOBS: 'true',
    };
    const start = async (name: 'controller' | 'worker', more: NodeJS.ProcessEnv = {}): Promise<RunledgerProcess> => {
      const started = new RunledgerProcess(name, { ...settings, ...more, OPS_PORT: String(await freePort()) });
      processes.push(started);
      return started;
    };
    await start('worker');
    const first = await start('controller', account);
    await playAll(0, seen, async (index) => {
      await player.create(`job-${index}`);
      await player.start(`job-${index}`, new Date(Date.now() - 60_000));
    });
    await until('some Jobs are known', async () => (await countRows()) === seen, 60_000);
    await first.child.kill('SIGKILL');

    const killAll = async (): Promise<void> => {
      for (let kill = 0; kill < kills; kill += 1) {
        const controller = await start('controller', account);
        await controller.child.line(/jobs loaded/);
        // A random moment of a round is the point of this test.
        await sleep(Math.random() * 300);
        await controller.child.kill('SIGKILL');
      }
    };
    await Promise.all([playAll(0, jobs, play), killAll()]);
    await start('controller', account);
    const outcomes = async () => {
      const { rows } = await sql<Record<string, unknown>>`
        select state, start_count, error_count, end_count, count(*)::integer as runs from executions
        where organization = 'acme' group by 1, 2, 3, 4 order by 1 desc
      `.execute(database.db);
      return rows;
    };
    const ended = async () => {
      const rows = await outcomes();
      return rows.reduce((sum, row) => sum + (row['end_count'] === 0 ? 0 : Number(row['runs'])), 0) === jobs;
    };
    await until('all have ended', ended, 120_000);
    const failed = jobs / 5 + seen / 5;
    expect(await outcomes()).to.deep.equal([
      { state: 'succeeded', start_count: 1, error_count: 0, end_count: 1, runs: jobs - failed },
      { state: 'failed', start_count: 1, error_count: 1, end_count: 1, runs: failed },
    ]);
    const { rows } =
      await sql`select error_id, count(*)::integer from events where kind = 'ERROR' group by 1 order by 1`.execute(
        database.db,
      );
    expect(rows).to.deep.equal([
      { error_id: 'BackoffLimitExceeded', count: jobs / 5 },
      { error_id: 'JobDeleted', count: seen / 5 },
    ]);

    // Without the keys in Redis and the table, the record itself says what it has.
    await Promise.all(processes.splice(0).map(({ child }) => child.kill('SIGTERM')));
    await database.db.deleteFrom('captured_jobs').execute();
    const again: EventGroup[] = [];
    const capture = new JobCapture({
      connect: podAccount(sharedCluster().url, await world.account()),
      namespaces: [],
      db: database.db,
      enqueueAll: async (groups) => {
        again.push(...groups);
        return groups.map(({ events }) => events);
      },
      identify: createIdentitySource(),
      metrics: captureMetrics(createRegistry('test'), () => 0),
      logger: recordingLogger().logger,
    });
    await capture.start();
    await until('a round', () => capture.pendingSince === undefined && capture.behind === undefined);
    await capture.stop();
    expect(again).to.deep.equal([]);
    expect(await countRows()).to.equal(jobs - seen / 5);
  }).timeout(300_000);
});
