import { createToken, secretManifest, tokenEntry } from '../../internal/tokens/manifest.ts';
import type { Command } from './command.ts';
import { parseOptions, UsageError } from './usage-error.ts';

/** Prints a new organization's Secret on stdout and its token on stderr. */
export const create: Command = async (args, { stdout, stderr }) => {
  const options = parseOptions(args, {
    organization: { type: 'string' },
    namespace: { type: 'string' },
    name: { type: 'string' },
    label: { type: 'string' },
    'sha256-only': { type: 'boolean', default: false },
  });
  const { organization, namespace, name, label } = options;
  if (organization === undefined) throw new UsageError('--organization is required');

  const token = createToken();
  const entries = tokenEntry(token, 1, options['sha256-only'] ? 'sha256' : 'clear');
  stdout.write(secretManifest({ organization, entries, namespace, name, label }));
  stderr.write(`${token}\n`);
  return 0;
};
