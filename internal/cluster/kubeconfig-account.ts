import type { Dispatcher } from 'undici';
import type { ClusterAccess, ConnectToCluster } from './cluster-access.ts';

/**
 * Connects with the account of a kubeconfig file, by any authentication method of the client
 * library.
 */
export function kubeconfigAccount(file: string): ConnectToCluster {
  return async (): Promise<ClusterAccess> => {
    // Loads the whole library, which takes 60 MB and which a pod does not need.
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromFile(file);
    const server = config.getCurrentCluster()?.server;
    if (server === undefined) throw new Error(`${file}: the current context names no cluster`);

    // The library creates a dispatcher for each request and closes none.
    const dispatchers: Dispatcher[] = [];
    return {
      server,
      namespace: config.getContextObject(config.getCurrentContext())?.namespace,
      async authenticate(request) {
        await config.applySecurityAuthentication(request);
        const dispatcher = request.getDispatcher();
        if (dispatcher !== undefined) dispatchers.push(dispatcher);
      },
      async close() {
        await Promise.all(dispatchers.splice(0).map((dispatcher) => dispatcher.destroy()));
      },
    };
  };
}
