import { text } from 'node:stream/consumers';
import { parseOptions, UsageError } from '../../internal/config/arguments.ts';
import {
  createSigningKey,
  forOrganization,
  readSigningKeys,
  readVerifierKey,
  verifierKeyText,
} from '../../internal/ledger/keys.ts';
import { macKeyOf, macKeyText } from '../../internal/ledger/mac.ts';
import { logKeyManifest } from '../../internal/cluster/tokens/manifest.ts';
import type { Command } from './command.ts';

/**
 * Prints a Secret with a new key of the log on stdout, or the key only, and its public key on
 * stderr. With the public key and an organization: prints the public key of that organization's
 * log. With `--mac-key`: prints the key of the MACs that the key on stdin gives.
 */
export const logKey: Command = async (args, { stdin, stdout, stderr }) => {
  const options = parseOptions(args, {
    'log-name': { type: 'string' },
    namespace: { type: 'string' },
    name: { type: 'string' },
    'key-only': { type: 'boolean', default: false },
    'public-key': { type: 'string' },
    'mac-key': { type: 'boolean', default: false },
    organization: { type: 'string' },
  });
  if (options['mac-key']) {
    stdout.write(`${macTextOf(await text(stdin))}\n`);
    return 0;
  }
  const { 'log-name': logName, 'public-key': publicKey, organization, namespace, name } = options;
  if (publicKey !== undefined && organization !== undefined) {
    stdout.write(`${verifierKeyText(forOrganization(readVerifierKey(publicKey), organization))}\n`);
    return 0;
  }
  if (options['key-only'] && (namespace ?? name) !== undefined) {
    throw new UsageError('--key-only excludes --namespace and --name');
  }
  if (logName === undefined) throw new UsageError('--log-name is required, or --public-key and --organization');
  const key = createSigningKey(logName);
  const macKey = macTextOf(key);
  stdout.write(options['key-only'] ? `${key}\n` : logKeyManifest({ key, macKey, namespace, name }));
  for (const made of readSigningKeys(key)) stderr.write(`${verifierKeyText(made)}\n`);
  return 0;
};

/** The text of LEDGER_MAC_KEY for the text of LEDGER_KEY. */
function macTextOf(keys: string): string {
  return readSigningKeys(keys)
    .map((key) => macKeyText(macKeyOf(key)))
    .join(' ');
}
