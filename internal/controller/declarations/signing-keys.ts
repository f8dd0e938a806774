import { entriesOf, type SecretManifest } from '../../cluster/secret.ts';

/** The signing keys of a Secret, or one sentence that says why there are none. */
export type SigningKeys = { readonly keys: readonly string[] } | { readonly reason: string; readonly problem: string };

/** Maximum number of keys in a Secret: each signs every notification. */
const mostKeys = 10;

const form = /^(?:whsec_)?[A-Za-z\d+/]+={0,2}$/;

/** Reads the entries of a Secret whose names begin with `secret`. Errors never quote a value. */
export function signingKeysOf(secret: SecretManifest): SigningKeys {
  const entries = [...entriesOf(secret)].filter(([entry]) => entry.startsWith('secret'));
  const invalid = (problem: string): SigningKeys => ({ reason: 'InvalidSecret', problem });
  if (entries.length === 0) return invalid('the Secret has no entry whose name begins with "secret"');
  if (entries.length > mostKeys)
    return invalid(`the Secret has more than ${mostKeys} entries whose names begin with "secret"`);
  const keys: string[] = [];
  for (const [entry, text = ''] of entries) {
    const key = text.trim();
    const bytes = Buffer.from(key.replace('whsec_', ''), 'base64').length;
    if (!form.test(key) || bytes < 24 || bytes > 64) {
      return invalid(`the entry ${entry} of the Secret is not whsec_ with 24 to 64 bytes in base64`);
    }
    keys.push(key);
  }
  return { keys };
}
