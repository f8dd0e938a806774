import { ConfigError, type Config } from '../../internal/config/read.ts';
import { tokenMetrics } from '../../internal/telemetry/token-metrics.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import type { ConnectToCluster } from '../../internal/kubernetes/cluster-access.ts';
import { FileTokenSource } from '../../internal/tokens/file-token-source.ts';
import { kubeconfigAccount } from '../../internal/kubernetes/kubeconfig-account.ts';
import { apiServerUrl, podAccount } from '../../internal/kubernetes/pod-account.ts';
import { SecretTokenSource } from '../../internal/tokens/secret-token-source.ts';
import type { TokenSource } from '../../internal/tokens/token-source.ts';

export const tokenSettings = [
  'TOKENS_FILE',
  'TOKENS_NAMESPACE',
  'TOKENS_LABEL_SELECTOR',
  'TOKENS_ACCOUNT_DIR',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
  'KUBECONFIG',
] as const;

type TokenConfig = Config<(typeof tokenSettings)[number]>;

/** The settings of the account at the API server. */
type AccountConfig = Config<
  'KUBECONFIG' | 'KUBERNETES_SERVICE_HOST' | 'KUBERNETES_SERVICE_PORT' | 'TOKENS_ACCOUNT_DIR'
>;

/** Tokens from `TOKENS_FILE` if it is set, otherwise from the Secrets of the cluster. */
export function createTokenSource(config: TokenConfig, { logger, registry }: Telemetry): TokenSource {
  const common = { labelSelector: config.TOKENS_LABEL_SELECTOR, logger, metrics: tokenMetrics(registry) };
  if (config.TOKENS_FILE !== undefined) return new FileTokenSource({ ...common, path: config.TOKENS_FILE });
  return new SecretTokenSource({
    ...common,
    connect: clusterAccount(config, 'TOKENS_FILE'),
    namespace: config.TOKENS_NAMESPACE,
  });
}

/**
 * Connects to the cluster by `KUBECONFIG`, or with the account of the pod.
 * @throws {ConfigError} outside a cluster; it names `instead`, the setting that needs none.
 */
export function clusterAccount(config: AccountConfig, instead: string): ConnectToCluster {
  if (config.KUBECONFIG !== undefined) return kubeconfigAccount(config.KUBECONFIG);
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = config;
  if (host !== undefined) return podAccount(apiServerUrl(host, port), config.TOKENS_ACCOUNT_DIR);
  throw new ConfigError(`${instead} is required outside a Kubernetes cluster, or KUBECONFIG`);
}
