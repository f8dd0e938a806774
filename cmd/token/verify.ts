import { text } from 'node:stream/consumers';
import { parseOptions, UsageError } from '../../internal/config/arguments.ts';
import { defaultLabelSelector } from '../../internal/cluster/tokens/label-selector.ts';
import { readManifestFile } from '../../internal/cluster/tokens/manifest-file.ts';
import { explain } from '../../internal/cluster/tokens/secret-refusal.ts';
import { tokenSetOf } from '../../internal/cluster/tokens/token-set.ts';
import { authenticateIn } from '../../internal/cluster/tokens/token-source.ts';
import type { Command } from './command.ts';

/**
 * Says which organization a token from stdin belongs to and what it may do, by ingest's rules, and
 * lists rejected Secrets.
 */
export const verify: Command = async (args, { stdin, stdout, stderr }) => {
  const { manifest, label } = parseOptions(args, {
    manifest: { type: 'string' },
    label: { type: 'string', default: defaultLabelSelector },
  });
  if (manifest === undefined) throw new UsageError('--manifest is required');
  const token = (await text(stdin)).trim();
  if (token === '') throw new UsageError('a token is read from standard input, and there is none');

  const set = tokenSetOf(await readManifestFile(manifest), label);
  for (const refusal of set.refusals) stderr.write(`refused: Secret ${refusal.secret.name}: ${explain(refusal)}\n`);
  const answer = authenticateIn(set, token);
  if (answer.status === 'known') {
    stdout.write(`valid: organization ${answer.organization}, scope ${answer.scope}\n`);
    return 0;
  }
  stdout.write('not valid: no Secret of the manifest has this token\n');
  return 1;
};
