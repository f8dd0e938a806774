import type { ObjectReference } from '../object.ts';

/** Length of the shortest accepted token, in characters: shorter ones can be guessed. */
export const minimumTokenLength = 16;

/** Length of the longest accepted token, in characters: all headers of a request share 16 KiB. */
export const maximumTokenLength = 4096;

/**
 * Reasons to refuse a Secret or one of its entries. People read these sentences in `kubectl
 * events`.
 */
export const refusalReasons = {
  'no-organization': 'the organization label has no value',
  'not-an-organization': 'the organization has more than 63 characters, or some that are not valid',
  'no-tokens': 'the Secret has no entry that begins with "token", "sha256-", "read-", "ping-" or "manage-"',
  'not-base64': 'the value is not base64 (clear text belongs under stringData)',
  empty: 'the token is empty',
  'too-short': `the token is shorter than ${minimumTokenLength} characters`,
  'too-long': `the token is longer than ${maximumTokenLength} characters`,
  'not-ascii': 'the token has characters that a request header cannot have: use printable ASCII',
  'not-a-digest': 'the value is not a hexadecimal SHA-256 (64 digits)',
  shared: 'another organization has the same token, so both are refused',
  'not-a-rate': 'the value is not a whole number of events a second',
  'both-scopes': 'the same token is of two kinds, so both are refused',
} as const;

export type SecretRefusalReason = keyof typeof refusalReasons;

/** A fault of a Secret. Names the entry, never its value. */
export interface SecretRefusal {
  readonly secret: ObjectReference;
  /** The key or annotation of the Secret; undefined if the whole Secret is refused. */
  readonly entry: string | undefined;
  readonly reason: SecretRefusalReason;
  /** Another Secret that has the same token, for another organization or use. */
  readonly other?: ObjectReference | undefined;
}

/** Returns a refusal as a sentence for people, without any value. */
export function explain({ entry, reason, other }: SecretRefusal): string {
  const where = entry === undefined ? '' : `${entry}: `;
  const also = other === undefined ? '' : ` (see Secret ${other.name})`;
  return `${where}${refusalReasons[reason]}${also}`;
}
