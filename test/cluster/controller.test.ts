import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { freePort } from '../support/free-port.ts';
import { installDefinitions } from '../support/cluster/automation-definitions.ts';
import { DeclaredCluster, rulesOfController } from '../support/cluster/declared-cluster.ts';
import { sharedCluster } from '../support/cluster/shared-cluster.ts';
import { emptyRedis } from '../support/servers.ts';
import { eachDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

describe('controllers with the account that the chart gives them', () => {
  const database = eachDatabase();
  let world: DeclaredCluster;
  let redisUrl: string;
  let processes: RunledgerProcess[];
  before(() => installDefinitions(sharedCluster()));
  beforeEach(async () => {
    world = new DeclaredCluster(await rulesOfController());
    redisUrl = (await emptyRedis()).url;
    processes = [];
  });
  afterEach(async () => {
    await Promise.all(processes.map(({ child }) => child.kill('SIGTERM')));
    await world.stop();
  });

  const start = async (name: 'controller' | 'ingest', settings: NodeJS.ProcessEnv): Promise<RunledgerProcess> => {
    const apiServer = new URL(sharedCluster().url);
    const started = new RunledgerProcess(name, {
      OPS_PORT: String(await freePort()),
      REDIS_URL: redisUrl,
      TOKENS_ACCOUNT_DIR: await world.account(),
      KUBERNETES_SERVICE_HOST: apiServer.hostname,
      KUBERNETES_SERVICE_PORT: apiServer.port,
      ...settings,
    });
    processes.push(started);
    return started;
  };

  const startController = async (): Promise<RunledgerProcess> => {
    const controller = await start('controller', { DATABASE_URL: database.url });
    await controller.ready();
    return controller;
  };

  const healthy = async (namespace: string, name: string): Promise<string | undefined> => {
    const { status } = await world.get('Automation', namespace, name);
    const condition = status?.conditions.find(({ type }) => type === 'Healthy');
    return condition && `${condition.status} ${condition.reason}`;
  };

  it('evaluate what resources declare, one for all, and continue when one dies', async () => {
    const acme = await world.createNamespace('acme', 'acme');
    await world.put('Automation', acme, 'one', { automationId, expect: { every: '1h' } });
    // It says up to which time events may be in the queue; its tokens do not matter.
    await start('ingest', { PORT: String(await freePort()) });
    const [first] = [await startController(), await startController()];
    await until('evaluated', async () => (await healthy(acme, 'one')) === 'True ExpectationsMet', 60_000);
    const rows = await database.db.selectFrom('automations').select(['organization', 'namespace', 'name']).execute();
    expect(rows).to.deep.include({ organization: 'acme', namespace: acme, name: 'one' });

    const status = await readFile(`/proc/${first?.child.process.pid}/status`, 'utf8');
    console.log(`      ${/VmRSS:\s+(\d+) kB/.exec(status)?.[1]} kB of memory`);
    await first?.child.kill('SIGKILL');
    await world.put('Automation', acme, 'one', { automationId, expect: { every: '1h' }, suspend: true });
    await until('the other continues', async () => (await healthy(acme, 'one')) === 'Unknown Suspended', 60_000);
  }).timeout(180_000);
});
