import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { sha256 } from './hashing.ts';
import { readSigningKeys, type SigningKey } from './keys.ts';

/** The length of a MAC, in bytes. */
export const macSize = 16;

/** A key that makes and checks the MACs of leaves: 32 bytes. */
export type MacKey = Buffer;

/**
 * The key of the MACs, derived from the key that signs a log, so that workers need no further
 * secret. Whoever has only this key, to erase or to write manifests, cannot sign checkpoints.
 */
export function macKeyOf({ privateKey }: SigningKey): MacKey {
  const { d = '' } = privateKey.export({ format: 'jwk' });
  return Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', 'runledger leaf mac', 32));
}

/** The text of LEDGER_MAC_KEY. */
export function macKeyText(key: MacKey): string {
  return `MAC+KEY+${idOf(key)}+${key.toString('base64')}`;
}

/**
 * Reads keys of {@link macKeyText}, separated by whitespace: two while LEDGER_KEY is replaced.
 * @throws an Error that does not repeat a key.
 */
export function readMacKeys(text: string): MacKey[] {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [, id, data = ''] = /^MAC\+KEY\+([0-9a-f]{8})\+(\S+)$/.exec(part) ?? [];
      const key = Buffer.from(data, 'base64');
      if (key.length !== 32) throw new Error('is no key that `token ledger-key` made');
      if (idOf(key) !== id) throw new Error('is damaged: its id does not match it');
      return key;
    });
}

function idOf(key: MacKey): string {
  return sha256(key).toString('hex', 0, 4);
}

/**
 * The MAC of a segment: the first 16 bytes of HMAC-SHA-256 over the name of the organization, a
 * zero byte and SHA-256 of the leaves. Only leaves with a MAC get a place in the log.
 */
export function macOf(key: MacKey, organization: string, leaves: Uint8Array): Buffer {
  const inner = sha256(Buffer.concat([padOf(key, 0x36), Buffer.from(`${organization}\0`), sha256(leaves)]));
  return sha256(Buffer.concat([padOf(key, 0x5c), inner])).subarray(0, macSize);
}

/**
 * A padded key, which HMAC (RFC 2104) hashes first. `createHmac` takes five times the CPU time of
 * two hashes, which matters for the small segments of a steady flow.
 */
function padOf(key: MacKey, pad: number): Buffer {
  const padded = Buffer.alloc(64, pad);
  for (const [at, byte] of key.entries()) padded[at] = byte ^ pad;
  return padded;
}

/** True if one of the keys made this MAC. */
export function isMacOf(
  keys: readonly MacKey[],
  organization: string,
  leaves: Uint8Array,
  mac: Uint8Array | null,
): boolean {
  if (mac?.length !== macSize) return false;
  return keys.some((key) => timingSafeEqual(macOf(key, organization, leaves), mac));
}

/**
 * The keys of the MACs from settings: LEDGER_MAC_KEY, or those derived from LEDGER_KEY. Empty if
 * neither is set. @throws an Error that does not repeat a key.
 */
export function macKeysOf({
  LEDGER_MAC_KEY: mac,
  LEDGER_KEY: log,
}: {
  LEDGER_MAC_KEY?: string | undefined;
  LEDGER_KEY?: string | undefined;
}): MacKey[] {
  return mac === undefined || mac === '' ? readSigningKeys(log ?? '').map(macKeyOf) : readMacKeys(mac);
}
