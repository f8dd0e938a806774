import { ConfigError, type Config } from '../config/read.ts';
import type { ConnectToCluster } from '../cluster/cluster-access.ts';
import { kubeconfigAccount } from '../cluster/kubeconfig-account.ts';
import { apiServerUrl, podAccount } from '../cluster/pod-account.ts';

/** The settings of the account for the API server. */
type AccountConfig = Config<
  'KUBECONFIG' | 'KUBERNETES_SERVICE_HOST' | 'KUBERNETES_SERVICE_PORT' | 'TOKENS_ACCOUNT_DIR'
>;

/**
 * Connects to the cluster by `KUBECONFIG`, or with the account of the pod.
 * @throws {ConfigError} outside a cluster; it names `instead`, the setting that works without one.
 */
export function clusterAccount(config: AccountConfig, instead: string): ConnectToCluster {
  if (config.KUBECONFIG !== undefined) return kubeconfigAccount(config.KUBECONFIG);
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = config;
  if (host !== undefined) return podAccount(apiServerUrl(host, port), config.TOKENS_ACCOUNT_DIR);
  throw new ConfigError(`${instead} is required outside a Kubernetes cluster, or KUBECONFIG`);
}
