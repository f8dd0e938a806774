import { Agent, type OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { ClusterAccess, ConnectToCluster } from './cluster-access.ts';

/**
 * Connects with the account of a kubeconfig file, in every way of authentication that the client
 * library knows.
 */
export function kubeconfigAccount(file: string): ConnectToCluster {
  return async (): Promise<ClusterAccess> => {
    // Loads the whole library, which takes 60 MB; a pod does not need it.
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromFile(file);
    const server = config.getCurrentCluster()?.server;
    if (server === undefined) throw new Error(`${file}: the current context names no cluster`);

    const agents = new Set<Agent>();
    return {
      server,
      namespace: config.getContextObject(config.getCurrentContext())?.namespace,
      async authenticate() {
        const options: RequestOptions & { headers?: OutgoingHttpHeaders } = {};
        await config.applyToHTTPSOptions(options);
        const { agent, auth, headers = {} } = options;
        if (!(agent instanceof Agent)) throw new Error(`${file}: the library made no connections for it`);
        agents.add(agent);
        return { agent, headers, auth: auth ?? undefined };
      },
      async close() {
        for (const agent of agents) agent.destroy();
      },
    };
  };
}
