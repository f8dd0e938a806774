import { ConfigError, type Config } from '../../internal/config/read.ts';
import { tokenMetrics } from '../../internal/telemetry/token-metrics.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import { FileTokenSource } from '../../internal/tokens/file-token-source.ts';
import type { TokenSource } from '../../internal/tokens/token-source.ts';

export const tokenSettings = ['TOKENS_FILE', 'TOKENS_NAMESPACE', 'TOKENS_LABEL_SELECTOR'] as const;

/** Tokens from `TOKENS_FILE` where it is set, otherwise from the Secrets of the cluster. */
export function createTokenSource(
  config: Config<(typeof tokenSettings)[number]>,
  { logger, registry }: Telemetry,
): TokenSource {
  const common = { labelSelector: config.TOKENS_LABEL_SELECTOR, logger, metrics: tokenMetrics(registry) };
  if (config.TOKENS_FILE !== undefined) return new FileTokenSource({ ...common, path: config.TOKENS_FILE });
  throw new ConfigError('TOKENS_FILE is required');
}
