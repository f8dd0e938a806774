import { dirname, join } from 'node:path';
import { fileKeyStore } from '../../internal/cluster/file-key-store.ts';
import type { KeyStore } from '../../internal/cluster/key-store.ts';
import type { Config } from '../../internal/config/read.ts';
import { FileTokenWriter } from '../../internal/cluster/tokens/file-token-writer.ts';
import type { TokenKeeperOptions } from '../../internal/controller/tokens/token-keeper.ts';
import type { OneTimeLink } from '../../internal/login/one-time-link.ts';
import { createOwnerCheck } from '../../internal/login/owner-check.ts';
import { actKeysFrom, type MacKeySettings } from '../../internal/ledger/mac.ts';
import type { tokenSettings } from '../../internal/wiring/tokens.ts';
import { oidcOf, oidcSettings } from '../console/login.ts';

/** The settings of the tokens that owners make. */
export const ownerSettings = [
  ...oidcSettings,
  'TOKENS_FILE',
  'TOKENS_NAMESPACE',
  'TOKENS_LABEL_SELECTOR',
  'LEDGER_MAC_KEY',
] as const;

/** How the controller writes tokens and recognizes owners. */
export type OwnedTokens = Pick<TokenKeeperOptions, 'writer' | 'checkOwner' | 'actKey'> & {
  /** Keeps the key for addresses of channels. */
  keys: KeyStore;
};

/**
 * Undefined where nobody can be an owner, or where tokens have no place.
 * @throws {ConfigError} when the settings of OpenID Connect do not fit together.
 */
export async function createOwnedTokens(
  config: Config<(typeof ownerSettings)[number] | (typeof tokenSettings)[number]> & MacKeySettings,
  link?: OneTimeLink,
): Promise<OwnedTokens | undefined> {
  const oidc = oidcOf(config);
  if (!config.CONSOLE_MANAGE || (oidc === undefined && link === undefined)) return undefined;
  const [checkOwner, actKey] = [createOwnerCheck(oidc, link), actKeysFrom(config)[0]];
  const { TOKENS_FILE: file, TOKENS_LABEL_SELECTOR: labelSelector } = config;
  if (file !== undefined) {
    const keys = fileKeyStore(join(dirname(file), 'channel-key.json'));
    return { checkOwner, actKey, writer: new FileTokenWriter(file, labelSelector), keys };
  }
  if (config.KUBECONFIG === undefined && config.KUBERNETES_SERVICE_HOST === undefined) return undefined;
  // Loads the Kubernetes client only when needed.
  const { createSecretKeyStore, createSecretTokenWriter } = await import('./cluster-tokens.ts');
  return { checkOwner, actKey, writer: createSecretTokenWriter(config), keys: createSecretKeyStore(config) };
}
