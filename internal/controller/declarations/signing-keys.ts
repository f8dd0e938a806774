import { entriesOf, type SecretManifest } from '../../cluster/secret.ts';
import { problemOfUrl, type ChannelType } from '../../expectation/read-channel.ts';

/**
 * What a Secret holds for a channel: signing keys, or the address of a chat and perhaps a token; or
 * one sentence that says why it holds nothing.
 */
export type SigningKeys = { readonly keys: readonly string[] } | { readonly reason: string; readonly problem: string };

/** Maximum number of keys in a Secret: each signs every notification. */
const mostKeys = 10;

const form = /^(?:whsec_)?[A-Za-z\d+/]+={0,2}$/;

/**
 * Reads the entries `url` and `token`, or those whose names begin with `secret`. Errors never quote
 * a value.
 */
export function signingKeysOf(secret: SecretManifest): SigningKeys {
  const all = new Map(entriesOf(secret));
  const url = all.get('url')?.trim();
  const invalid = (problem: string): SigningKeys => ({ reason: 'InvalidSecret', problem });
  if (url !== undefined) {
    const problem = problemOfUrl(url);
    if (problem !== undefined) return invalid(`the entry url of the Secret ${problem}`);
    const token = all.get('token')?.trim();
    return { keys: token === undefined ? [url] : [url, token] };
  }
  const entries = [...all].filter(([entry]) => entry.startsWith('secret'));
  if (entries.length === 0)
    return invalid('the Secret has no entry whose name begins with "secret", and no entry "url"');
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

/** Why these keys do not suit a channel of this type. */
export function problemOfKeys(type: ChannelType, [first = '']: readonly string[]): string | undefined {
  const isAddress = first.startsWith('https://');
  if (type === 'webhook' && isAddress) return 'a webhook needs signing keys, not an entry "url"';
  if (type !== 'webhook' && !isAddress) return 'it has no entry "url" with the address of the channel';
  return undefined;
}
