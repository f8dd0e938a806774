import { verify } from 'node:crypto';
import { witnessKeyId, type VerifierKey } from './keys.ts';
import { readSignature, splitNote, WrongSignature } from './note.ts';

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
