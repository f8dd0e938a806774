import { emptyRoot, hashSize } from './hashing.ts';
import { openNote, signNote, WrongSignature } from './note.ts';
import { forOrganization, originOf, type SigningKey, type VerifierKey } from './keys.ts';

/** The size of a log, and the root of its tree. */
export interface TreeHead {
  readonly size: number;
  readonly root: Buffer;
}

/** A checkpoint (C2SP tlog-checkpoint) of an organization's log, signed by each key. */
export function signCheckpoint(organization: string, head: TreeHead, keys: readonly SigningKey[]): string {
  const [first] = keys;
  if (first === undefined) throw new Error('a checkpoint needs a key');
  const text = `${originOf(first.name, organization)}\n${head.size}\n${head.root.toString('base64')}\n`;
  const own = keys.map((key) => forOrganization(key, organization));
  return signNote(text, own);
}

/** The checkpoint of a log without leaves, which every log extends. */
export function emptyCheckpoint(organization: string, keys: readonly SigningKey[]): string {
  return signCheckpoint(organization, { size: 0, root: emptyRoot() }, keys);
}

/**
 * Reads a checkpoint of an organization's log, signed by at least one of these keys.
 * @throws an Error of one sentence for any other text.
 */
export function openCheckpoint(note: string, organization: string, keys: readonly VerifierKey[]): TreeHead {
  const own = keys.map((key) => forOrganization(key, organization));
  const { text, signers } = openNote(note, own);
  const { origin, ...head } = readCheckpoint(text);
  if (own.some(({ name }) => name === origin)) return head;
  throw new Error(`the checkpoint is of the log ${origin}, not of ${signers.map(({ name }) => name).join()}`);
}

/** True if all keys signed it. Wrong signatures count too, so that nobody signs over them. */
export function isSignedByAll(note: string, organization: string, keys: readonly VerifierKey[]): boolean {
  const own = keys.map((key) => forOrganization(key, organization));
  try {
    return openNote(note, own).signers.length === own.length;
  } catch (error) {
    return error instanceof WrongSignature;
  }
}

/** Reads a checkpoint and ignores its signatures. @throws when it is not a checkpoint. */
export function readCheckpoint(note: string): TreeHead & { origin: string } {
  const [origin = '', size = '', root = ''] = note.split('\n');
  const hash = Buffer.from(root, 'base64');
  const whole = origin !== '' && /^(0|[1-9]\d{0,15})$/.test(size) && hash.length === hashSize;
  if (!whole || hash.toString('base64') !== root) throw new Error('this is no checkpoint');
  return { origin, size: Number(size), root: hash };
}
