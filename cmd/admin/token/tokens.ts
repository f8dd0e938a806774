import { text } from 'node:stream/consumers';
import { entriesOf } from '../../../internal/cluster/secret.ts';
import { defaultLabelSelector } from '../../../internal/cluster/tokens/label-selector.ts';
import { parseSecrets, readManifestFile } from '../../../internal/cluster/tokens/manifest-file.ts';
import { createToken, scopeOf, secretManifest, tokenEntry } from '../../../internal/cluster/tokens/manifest.ts';
import { explain, refusalReasons } from '../../../internal/cluster/tokens/secret-refusal.ts';
import { digestOf, faultOfToken, fingerprintOf, readEntry } from '../../../internal/cluster/tokens/token-entry.ts';
import { tokenSetOf } from '../../../internal/cluster/tokens/token-set.ts';
import { authenticateIn } from '../../../internal/cluster/tokens/token-source.ts';
import { UsageError, type Context, type Run } from '../command.ts';
import { refuseIf } from '../parse.ts';
import type { createToken as created, revokeToken, rotateToken, tokenSecret, verifyToken } from './options.ts';

/** Prints only the token, so that nothing else ever contains one. */
export const create: Run<typeof created> = async (given, { print }) => {
  const [scope = 'write', ...others] = (['read', 'ping', 'manage'] as const).filter((name) => given[name]);
  refuseIf(others.length > 0, `--${scope} and --${others[0]} exclude each other: a token has one scope`);
  print(`${createToken(scope)}\n`);
};

export const secret: Run<typeof tokenSecret> = async ({ organization, namespace, name, label }, { stdin, print }) => {
  const token = await newTokenOf(stdin);
  const labels = Object.fromEntries(
    label.map((one) => {
      const [key = '', value = organization] = one.split('=');
      return [key, value];
    }),
  );
  const entries = tokenEntry(token);
  print(
    secretManifest({
      organization,
      namespace,
      name,
      labels: label.length === 0 ? undefined : labels,
      scope: scopeOf(token),
      entries,
    }),
  );
};

/** A patch merges into the Secret, so no other entry is lost. */
export const rotate: Run<typeof rotateToken> = async (_args, { stdin, print }) => {
  print(`${JSON.stringify({ stringData: tokenEntry(await newTokenOf(stdin)) })}\n`);
};

export const revoke: Run<typeof revokeToken> = async ({ fingerprint }, { stdin, print }) => {
  const digits = fingerprint.toLowerCase();
  refuseIf(!/^[0-9a-f]{12,64}$/.test(digits), '--fingerprint must be 12 or more hexadecimal digits');
  const [found, ...more] = parseSecrets(await text(stdin), 'standard input');
  if (found === undefined || more.length > 0) throw new UsageError('standard input must have one Secret');
  const all = Array.from(entriesOf(found)).flatMap(([entry, value]) => {
    const read = readEntry(entry, value);
    return read !== undefined && 'digest' in read ? [{ entry, digest: read.digest }] : [];
  });
  const revoked = all.filter(({ digest }) => digest.startsWith(digits)).map(({ entry }) => [entry, null]);
  if (revoked.length > 0) return print(`${JSON.stringify({ data: Object.fromEntries(revoked) })}\n`);
  const others = all.map(({ digest }) => fingerprintOf(digest)).join(', ');
  throw new Error(`the Secret has no token with this fingerprint, but ${others || 'none at all'}`);
};

export const verify: Run<typeof verifyToken> = async ({ manifest, label }, { stdin, print, say }) => {
  const token = await tokenOf(stdin);
  const set = tokenSetOf(await readManifestFile(manifest), label ?? defaultLabelSelector);
  for (const refusal of set.refusals) say(`refused: Secret ${refusal.secret.name}: ${explain(refusal)}`);
  const answer = authenticateIn(set, token);
  const fingerprint = `fingerprint ${fingerprintOf(digestOf(token))}`;
  if (answer.status === 'known') {
    print(`valid: organization ${answer.organization}, scope ${answer.scope}, ${fingerprint}\n`);
    return 0;
  }
  print(`not valid: no Secret of the manifest has this token, ${fingerprint}\n`);
  return 1;
};

async function tokenOf(stdin: Context['stdin']): Promise<string> {
  const token = (await text(stdin)).trim();
  if (token === '') throw new UsageError('a token is read from standard input, and there is none');
  return token;
}

/** A token that ingest accepts: once it is a digest, nobody can check it any more. */
async function newTokenOf(stdin: Context['stdin']): Promise<string> {
  const token = await tokenOf(stdin);
  const fault = faultOfToken(token);
  if (fault !== undefined) throw new UsageError(refusalReasons[fault]);
  return token;
}
