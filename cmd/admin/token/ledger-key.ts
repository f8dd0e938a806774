import { text } from 'node:stream/consumers';
import { logKeyManifest } from '../../../internal/cluster/tokens/manifest.ts';
import { messageOf } from '../../../internal/kit/errors/message-of.ts';
import {
  createSigningKey,
  forOrganization,
  readSigningKeys,
  readVerifierKey,
  verifierKeyText,
} from '../../../internal/ledger/keys.ts';
import { actKeyOf, macKeyOf, macKeyText } from '../../../internal/ledger/mac.ts';
import { UsageError, type Run } from '../command.ts';
import { refuseIf } from '../parse.ts';
import type { ledgerKey } from './options.ts';

export const run: Run<typeof ledgerKey> = async (args, { stdin, print }) => {
  const { 'log-name': logName, public: isPublic, 'mac-key': isMac, 'act-key': isAct, secret } = args;
  const { 'public-key': publicKey } = args;
  const { organization, namespace, name } = args;
  const kinds = [isPublic, isMac, isAct, secret].map((is) => is || undefined);
  const chosen = [logName, publicKey, ...kinds];
  const isOne = chosen.filter((one) => one !== undefined).length === 1;
  refuseIf(
    !isOne,
    'one of --log-name, --public, --mac-key, --act-key, --secret and --public-key is required, and only one',
  );
  refuseIf(!secret && (namespace ?? name) !== undefined, '--namespace and --name need --secret');
  if (logName !== undefined) return print(`${readOrRefuse('', () => createSigningKey(logName))}\n`);
  if (publicKey !== undefined) {
    if (organization === undefined) throw new UsageError('--public-key needs --organization');
    const key = readOrRefuse('--public-key: ', () => readVerifierKey(publicKey));
    return print(`${verifierKeyText(forOrganization(key, organization))}\n`);
  }
  const key = (await text(stdin)).trim();
  refuseIf(key === '', 'a key is read from standard input, and there is none');
  const keys = readOrRefuse('standard input: ', () => readSigningKeys(key));
  const macKeys = keys.map(macKeyOf);
  const macKey = macKeys.map((one) => macKeyText(one)).join(' ');
  const actKey = macKeys.map((one) => macKeyText(actKeyOf(one), 'ACT')).join(' ');
  if (secret) return print(logKeyManifest({ key, macKey, actKey, namespace, name }));
  if (isMac || isAct) return print(`${isMac ? macKey : actKey}\n`);
  print(keys.map((one) => `${verifierKeyText(one)}\n`).join(''));
};

/** @throws {UsageError} with what is wrong after the place of it. */
function readOrRefuse<Key>(place: string, read: () => Key): Key {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${place}${messageOf(error)}`, { cause: error });
  }
}
