import { sign, verify } from 'node:crypto';
import { keyId, witnessKeyId, type SigningKey, type VerifierKey } from './keys.ts';

/** Signs a text, which ends with a newline, with each key (C2SP signed-note, Ed25519). */
export function signNote(text: string, keys: readonly SigningKey[]): string {
  if (!isText(text)) throw new Error('the text of a note must end with a newline, without control characters');
  const lines = keys.map(({ name, privateKey, publicBytes }) => {
    const signature = sign(null, Buffer.from(text), privateKey);
    return `— ${name} ${Buffer.concat([keyId(name, publicBytes), signature]).toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** A signature under a known key's name was not made by that key: the note was changed. */
export class WrongSignature extends Error {
  override readonly name = 'WrongSignature';
}

/** None of the known keys has signed a note. */
export class UnknownSigner extends Error {
  override readonly name = 'UnknownSigner';
}

/** A note with at least one signature of a known key. */
export interface OpenNote {
  readonly text: string;
  /** The given keys that signed it. */
  readonly signers: VerifierKey[];
}

/**
 * Checks a note against keys; signatures of other keys are ignored.
 * @throws {WrongSignature} when a signature of a known key is wrong; {@link UnknownSigner} when no
 * known key signed it; another Error of one sentence when it is no note.
 */
export function openNote(note: string, keys: readonly VerifierKey[]): OpenNote {
  const { text, lines } = splitNote(note);
  const signers = lines.flatMap((line) => signerOf(text, line, keys));
  if (signers.length === 0) throw new UnknownSigner('no known key signed the note');
  return { text, signers };
}

/** The text of a note and its signature lines. @throws when it is not a note. */
export function splitNote(note: string): { text: string; lines: string[] } {
  const split = note.lastIndexOf('\n\n');
  const text = note.slice(0, split + 1);
  const lines = note.slice(split + 2).split('\n');
  if (split < 0 || lines.pop() !== '' || lines.length === 0 || !isText(text)) throw new Error('this is no signed note');
  return { text, lines };
}

/** The name and the bytes of a signature line. @throws when it is not one. */
export function readSignature(line: string): { name: string; bytes: Buffer } {
  const [, name, data = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
  if (name === undefined) throw new Error('a line of the note is no signature');
  return { name, bytes: Buffer.from(data, 'base64') };
}

function signerOf(text: string, line: string, keys: readonly VerifierKey[]): VerifierKey[] {
  const { name, bytes } = readSignature(line);
  const key = keys.find((known) => known.name === name && keyId(name, known.publicBytes).equals(bytes.subarray(0, 4)));
  if (key === undefined) return [];
  if (!verify(null, Buffer.from(text), key.publicKey, bytes.subarray(4))) {
    throw new WrongSignature(`the signature of ${name} is wrong`);
  }
  return [key];
}

function isText(text: string): boolean {
  return text.endsWith('\n') && text.isWellFormed() && !/(?!\n)\p{Cc}/u.test(text);
}

/** A verified cosignature of a checkpoint (C2SP tlog-cosignature). */
export interface Cosignature {
  /** The line of the signed note, without its end. */
  readonly line: string;
  /** When the witness signed, in s since the Unix epoch. */
  readonly time: number;
}

/**
 * Finds a witness's cosignature among lines, and verifies it for the checkpoint. Undefined if there
 * is none. @throws {WrongSignature}
 */
export function findCosignature(note: string, lines: readonly string[], key: VerifierKey): Cosignature | undefined {
  const { text } = splitNote(note);
  for (const line of lines) {
    const { name, bytes } = readSignature(line);
    if (name !== key.name || !witnessKeyId(key).equals(bytes.subarray(0, 4))) continue;
    const time = bytes.length === 76 ? Number(bytes.readBigUInt64BE(4)) : 0;
    const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
    if (time > 0 && verify(null, message, key.publicKey, bytes.subarray(12))) return { line, time };
    throw new WrongSignature(`the cosignature of ${name} is wrong`);
  }
  return undefined;
}
