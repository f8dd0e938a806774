import { hash } from 'node:crypto';
import { hashOfText, hashSize, sha256, type HashText } from './hashing.ts';
import { storedJson, type StoredEvent } from './stored-json.ts';

/** The length of a salt, in bytes. */
export const saltSize = 16;

/** What proves an event: its canonical JSON (`storedJson`), and the proof columns of its row. */
export interface ProvenEvent {
  readonly metadata: string;
  readonly texts: string;
  readonly salt: Uint8Array | null;
  /** The digest of erased texts; null if none were erased. */
  readonly textsDigest: Uint8Array | null;
}

/** The texts of an event without any, in canonical JSON. */
const noTexts = '{}';

const noTextsDigest = sha256(noTexts);

/**
 * The digest in an event's leaf: SHA-256 of its metadata in canonical JSON, followed by the 32
 * bytes of {@link textsDigestOf} its texts. A row whose texts were erased keeps that digest, so the
 * leaf can still be computed.
 */
export function digestOfProven({ metadata, texts, salt, textsDigest }: ProvenEvent): HashText {
  // Texts always give their own digest, so that texts put back after an erasure are found.
  return joined(metadata, texts === noTexts && textsDigest !== null ? textsDigest : textsDigestOf(texts, salt));
}

/** The same for a row. */
export function eventDigest(event: StoredEvent): HashText {
  return digestOfProven({ ...storedJson(event), salt: event.salt ?? null, textsDigest: event.texts_digest ?? null });
}

/**
 * The digest of texts: SHA-256 of their salt, followed by their canonical JSON. An event without
 * texts has no salt. An erasure removes the salt too, so nobody can test guesses against the
 * digest.
 */
export function textsDigestOf(texts: string, salt: Uint8Array | null): Buffer {
  if (texts === noTexts && salt === null) return noTextsDigest;
  const salted = room(texts, salt?.length ?? 0);
  if (salt !== null) bytes.set(salt);
  return hashOfText(hash('sha256', bytes.subarray(0, salted), 'binary'));
}

/** A reused buffer for what is hashed: a new one for each event would cost more than the hash. */
let bytes = Buffer.alloc(4_096);

/** Writes a text into the buffer at an offset, and returns where it ends. */
function room(text: string, at: number): number {
  const most = at + text.length * 3 + hashSize;
  if (bytes.length < most) bytes = Buffer.alloc(most);
  return at + bytes.write(text, at);
}

function joined(metadata: string, digest: Uint8Array): HashText {
  const end = room(metadata, 0);
  bytes.set(digest, end);
  return hash('sha256', bytes.subarray(0, end + digest.length), 'binary');
}
