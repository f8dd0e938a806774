import type { Dispatcher } from 'undici';
import type { ClusterAccess, ConnectToCluster } from './cluster-access.ts';

/**
 * The account of a kubeconfig file, with all the ways of authentication that the client library
 * knows.
 */
export function kubeconfigAccount(file: string): ConnectToCluster {
  return async (): Promise<ClusterAccess> => {
    // Loaded only here: it costs a pod, which does not need it, 60 MB.
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromFile(file);
    const server = config.getCurrentCluster()?.server;
    if (server === undefined) throw new Error(`${file}: the current context names no cluster`);

    // The library makes a dispatcher for every request and closes none.
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
