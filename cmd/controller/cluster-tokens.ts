import { secretKeyStore, type KeyStore } from '../../internal/cluster/key-store.ts';
import type { Config } from '../../internal/config/read.ts';
import { SecretTokenWriter } from '../../internal/cluster/tokens/secret-token-writer.ts';
import { clusterAccount } from '../../internal/wiring/cluster-account.ts';
import type { tokenSettings } from '../../internal/wiring/tokens.ts';

/** Writes tokens into the Secrets of the cluster. @throws {ConfigError} outside a cluster. */
export function createSecretTokenWriter(config: Config<(typeof tokenSettings)[number]>): SecretTokenWriter {
  return new SecretTokenWriter({
    connect: clusterAccount(config, 'TOKENS_FILE'),
    namespace: config.TOKENS_NAMESPACE,
    labelSelector: config.TOKENS_LABEL_SELECTOR,
  });
}

/** Keeps the key of channels beside the tokens. @throws {ConfigError} outside a cluster. */
export function createSecretKeyStore(config: Config<(typeof tokenSettings)[number]>): KeyStore {
  return secretKeyStore(clusterAccount(config, 'TOKENS_FILE'), config.TOKENS_NAMESPACE);
}
