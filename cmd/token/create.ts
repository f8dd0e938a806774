import { parseOptions, UsageError } from '../../internal/config/arguments.ts';
import { createToken, secretManifest, tokenEntry } from '../../internal/cluster/tokens/manifest.ts';
import type { Command } from './command.ts';
import { scopeOf } from './scope-of.ts';

/** Prints a Secret of an organization on stdout and its token on stderr. */
export const create: Command = async (args, { stdout, stderr }) => {
  const options = parseOptions(args, {
    organization: { type: 'string' },
    namespace: { type: 'string' },
    name: { type: 'string' },
    label: { type: 'string' },
    read: { type: 'boolean', default: false },
    ping: { type: 'boolean', default: false },
    clear: { type: 'boolean', default: false },
  });
  const { organization, namespace, name, label } = options;
  if (organization === undefined) throw new UsageError('--organization is required');

  const scope = scopeOf(options);
  const token = createToken(scope);
  const entries = tokenEntry({ token, scope, form: options.clear ? 'clear' : 'sha256' }, 1);
  stdout.write(secretManifest({ organization, scope, entries, namespace, name, label }));
  stderr.write(`${token}\n`);
  return 0;
};
