import { Cluster } from './cluster.ts';

let cluster: Cluster | undefined;

/** Started once a run, before the first test; each test makes its own namespaces in it. */
export async function mochaGlobalSetup(): Promise<void> {
  cluster = await Cluster.start();
}

export async function mochaGlobalTeardown(): Promise<void> {
  await cluster?.stop();
}

/** The run's API server. */
export function sharedCluster(): Cluster {
  if (cluster === undefined)
    throw new Error('test/support/cluster/shared-cluster.ts is not among the required modules');
  return cluster;
}
