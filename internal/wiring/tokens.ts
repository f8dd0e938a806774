import type { Config } from '../config/read.ts';
import { tokenMetrics } from '../cluster/tokens/token-metrics.ts';
import type { Telemetry } from '../kit/telemetry/telemetry.ts';
import { FileTokenSource } from '../cluster/tokens/file-token-source.ts';
import { SecretTokenSource } from '../cluster/tokens/secret-token-source.ts';
import type { TokenSource } from '../cluster/tokens/token-source.ts';
import { clusterAccount } from './cluster-account.ts';

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
