import { findBinaries } from '../../support/cluster/binaries.ts';
import { Cluster } from '../../support/cluster/cluster.ts';
import { installDefinitions } from '../../support/cluster/automation-definitions.ts';
import { query } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { figure, median } from '../harness/figures.ts';
import type { Scenario } from './scenario.ts';
import { startController, type Controller } from './tick-controller.ts';
import { automations, idOf, organizations, seedRuns } from './tick-fleet.ts';

const resources = '/apis/runledger.dev/v1beta1';
const expect = { schedule: '*/5 * * * *', grace: '10m', maxDuration: '45m', failures: { consecutive: 3 } };

/** Requests of this process to the API server at once. */
const callers = 8;

/**
 * The same automations as resources of a real API server: memory of the controller while it writes
 * every status for the first time, and after a restart, when every status is there.
 */
export const tickInCluster: Scenario = async (world, { rounds }) => {
  const missing = await findBinaries().then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (missing !== undefined) return { figures: [], notes: [`tick: nothing is measured in a cluster. ${missing}`] };
  const cluster = await Cluster.start();
  try {
    const account = await prepare(cluster);
    const database = await world.createDatabase();
    await seedRuns(database);
    const { hostname, port } = new URL(cluster.url);
    const source = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, TOKENS_ACCOUNT_DIR: account };

    const first = await startController(world, database, source);
    await until('the first status', async () => (await first.statusWrites()) > 0, 60_000);
    const begun = performance.now();
    await until('a write of each status', async () => (await first.statusWrites()) >= automations, 900_000, 200);
    const seconds = (performance.now() - begun) / 1_000;
    const firstTicks = await measureTicks(first, database, rounds);
    await until('each status is right', async () => (await healthy(cluster)) === automations, 900_000, 1_000);
    const firstMemory = await first.program.memory('VmHWM');
    await world.end(first.program);

    const second = await startController(world, database, source);
    const ticks = await measureTicks(second, database, rounds);
    const memory = await second.program.memory('VmHWM');
    const writes = await second.statusWrites();
    await world.end(second.program);

    const ms = (values: number[]): number => median(values) * 1_000;
    return {
      figures: [
        figure('In a cluster: each status written for the first time in', seconds, 's'),
        figure('In a cluster: a tick with nothing due', ms([...firstTicks.quiet, ...ticks.quiet]), 'ms'),
        figure('In a cluster: a tick with all due', ms([...firstTicks.due, ...ticks.due]), 'ms', { atMost: 2_000 }),
        figure('In a cluster: statuses written again after a restart', writes, '', { atMost: 0 }),
        figure('In a cluster: most memory, first start', firstMemory / 2 ** 20, 'MB', { atMost: 150 }),
        figure('In a cluster: most memory, restarted', memory / 2 ** 20, 'MB', { atMost: 150 }),
      ],
    };
  } finally {
    await cluster.stop();
  }
};

/** Makes the resources. Resolves with the folder of the account of a controller. */
async function prepare(cluster: Cluster): Promise<string> {
  await installDefinitions(cluster);
  const { admin } = cluster;
  const account = { name: 'controller', namespace: 'runledger' };
  await admin.must('POST', '/api/v1/namespaces', { metadata: { name: account.namespace } });
  await admin.must('POST', `/api/v1/namespaces/${account.namespace}/serviceaccounts`, { metadata: account });
  await admin.must('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: account.name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  await eachOf(organizations, async (index) => {
    const metadata = { name: `org-${index}`, labels: { 'runledger.dev/organization': `org-${index}` } };
    await admin.must('POST', '/api/v1/namespaces', { metadata });
  });
  await eachOf(automations, async (index) => {
    const number = index + 1;
    const manifest = {
      apiVersion: 'runledger.dev/v1beta1',
      kind: 'Automation',
      metadata: { name: `automation-${number}` },
      spec: { automationId: idOf(number), expect },
    };
    await admin.must('POST', `${resources}/namespaces/org-${number % organizations}/automations`, manifest);
  });
  return cluster.podAccountFolder(account.namespace, account.name);
}

/** Seconds of ticks: some with nothing due, and some with each automation due. */
async function measureTicks(controller: Controller, database: string, rounds: number) {
  const evaluated = async (): Promise<number> =>
    Number((await query(database, 'select count(*) as count from automations where next_at > now()'))[0]?.['count']);
  await until('each is evaluated', async () => (await evaluated()) === automations, 60_000);
  const [quiet, due]: [number[], number[]] = [[], []];
  await controller.nextTick();
  for (let round = 0; round < rounds; round += 1) quiet.push((await controller.nextTick()).seconds);
  for (let round = 0; round < rounds; round += 1) {
    await query(database, 'update automations set next_at = null');
    due.push((await controller.tickOf(automations)).seconds);
    await controller.nextTick();
  }
  return { quiet, due };
}

/** The number of resources whose status says that every expectation is met. */
async function healthy({ admin }: Cluster): Promise<number> {
  let found = 0;
  for (let index = 0; index < organizations; index += 1) {
    const { text } = await admin.call('GET', `${resources}/namespaces/org-${index}/automations`);
    found += text.split('"ExpectationsMet"').length - 1;
  }
  return found;
}

/** Calls `work` with 0, 1, … below `count`, some at once. */
async function eachOf(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}
