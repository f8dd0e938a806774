import { Cluster } from './cluster.ts';

let cluster: Promise<Cluster> | undefined;

/** The one cluster of a test run, started by the first test that asks for it. Tests keep to namespaces of their own. */
export async function sharedCluster(): Promise<Cluster> {
  cluster ??= Cluster.start();
  return cluster;
}

/** Called by mocha when all tests are over: named in test/cluster/.mocharc.json. */
export async function mochaGlobalTeardown(): Promise<void> {
  const started = await cluster?.catch(() => undefined);
  await started?.stop();
}
