import type { SecretReference } from './secret-manifest.ts';

/** The shortest token taken, in characters: shorter ones can be guessed. */
export const minimumTokenLength = 16;

/** The longest token taken, in characters: all headers of a request together have 16 KiB. */
export const maximumTokenLength = 4096;

/** Why a Secret, or one entry of it, gives no token. The sentences are read in `kubectl events`. */
export const refusalReasons = {
  'no-organization': 'the organization label has no value',
  'no-tokens': 'the Secret has no entry that begins with "token", "sha256-" or "read-"',
  'not-base64': 'the value is not base64 (clear text belongs under stringData)',
  empty: 'the token is empty',
  'too-short': `the token is shorter than ${minimumTokenLength} characters`,
  'too-long': `the token is longer than ${maximumTokenLength} characters`,
  'not-ascii': 'the token holds characters that a request header cannot carry: use printable ASCII',
  'not-a-digest': 'the value is not a hexadecimal SHA-256 (64 digits)',
  shared: 'the same token is in another organization, so it is refused for both',
  'both-scopes': 'the same token is a write and a read token, so it is refused for both uses',
} as const;

export type SecretRefusalReason = keyof typeof refusalReasons;

/** One thing that is wrong with a Secret. Names the entry, never its value. */
export interface SecretRefusal {
  readonly secret: SecretReference;
  /** The key within the Secret; undefined when the Secret as a whole is refused. */
  readonly entry: string | undefined;
  readonly reason: SecretRefusalReason;
  /** Another Secret that has the same token, for another organization or use. */
  readonly other?: SecretReference | undefined;
}

/** A refusal as a sentence for people, without any value. */
export function explain({ entry, reason, other }: SecretRefusal): string {
  const where = entry === undefined ? '' : `${entry}: `;
  const also = other === undefined ? '' : ` (see Secret ${other.name})`;
  return `${where}${refusalReasons[reason]}${also}`;
}
