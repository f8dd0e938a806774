import { text } from 'node:stream/consumers';
import { parseOptions } from '../../internal/config/arguments.ts';
import { parseSecrets, readManifestFile } from '../../internal/cluster/tokens/manifest-file.ts';
import { addToken, createToken } from '../../internal/cluster/tokens/manifest.ts';
import type { SecretManifest } from '../../internal/cluster/secret.ts';
import type { Command } from './command.ts';
import { scopeOf } from './scope-of.ts';

/** Prints the same Secret with one more token on stdout, and that token on stderr. */
export const rotate: Command = async (args, { stdin, stdout, stderr }) => {
  const { manifest, name, ...options } = parseOptions(args, {
    manifest: { type: 'string' },
    name: { type: 'string' },
    read: { type: 'boolean', default: false },
    ping: { type: 'boolean', default: false },
    clear: { type: 'boolean', default: false },
  });
  const secrets =
    manifest === undefined ? parseSecrets(await text(stdin), 'standard input') : await readManifestFile(manifest);
  const secret = onlyOne(secrets, name);

  const scope = scopeOf(options);
  const token = createToken(scope);
  stdout.write(addToken(secret, { token, scope, form: options.clear ? 'clear' : 'sha256' }));
  stderr.write(`${token}\n`);
  return 0;
};

function onlyOne(secrets: SecretManifest[], name: string | undefined): SecretManifest {
  const candidates = secrets.filter(({ metadata }) => name === undefined || metadata?.name === name);
  const [secret] = candidates;
  if (secret === undefined) throw new Error(name === undefined ? 'no Secret there' : `no Secret "${name}" there`);
  if (candidates.length > 1) throw new Error('several Secrets there: choose one with --name');
  return secret;
}
