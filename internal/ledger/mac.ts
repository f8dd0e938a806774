import { hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Frontier } from './frontier.ts';
import { sha256 } from './hashing.ts';
import { readSigningKeys, type SigningKey } from './keys.ts';
import { isAct, leafSize } from './leaf.ts';

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

/**
 * The key of controllers and consoles, which write acts only: the sealer gives a place to no other
 * leaf with its MAC. So a console that is taken over adds no event to a log.
 */
export function actKeyOf(key: MacKey): MacKey {
  return Buffer.from(hkdfSync('sha256', key, '', 'runledger act mac', 32));
}

/** The text of LEDGER_MAC_KEY, for a key of all leaves (`MAC`) or of acts only (`ACT`). */
export function macKeyText(key: MacKey, of: 'MAC' | 'ACT' = 'MAC'): string {
  return `${of}+KEY+${idOf(key)}+${key.toString('base64')}`;
}

/**
 * Reads keys of {@link macKeyText}, separated by whitespace: two while LEDGER_KEY is replaced.
 * @throws an Error that does not repeat a key.
 */
export function readMacKeys(text: string, of: 'MAC' | 'ACT' = 'MAC'): MacKey[] {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [, kind, id, data = ''] = /^(MAC|ACT)\+KEY\+([0-9a-f]{8})\+(\S+)$/.exec(part) ?? [];
      const key = Buffer.from(data, 'base64');
      if (key.length !== 32) throw new Error('is no key that `token ledger-key` made');
      if (idOf(key) !== id) throw new Error('is damaged: its id does not match it');
      if (kind === of) return key;
      if (of === 'ACT') return actKeyOf(key);
      throw new Error('is a key of acts only, for controllers and consoles');
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

/** True if one of the keys made this MAC, or for acts one of their {@link actKeyOf}. */
export function isMacOf(
  keys: readonly MacKey[],
  organization: string,
  leaves: Uint8Array,
  mac: Uint8Array | null,
): boolean {
  if (mac?.length !== macSize) return false;
  const isMade = (key: MacKey): boolean => timingSafeEqual(macOf(key, organization, leaves), mac);
  return keys.some(isMade) || (areActs(leaves) && keys.map(actKeyOf).some(isMade));
}

/** A tree of a log, as {@link Frontier} gives it. */
type Tree = Pick<Frontier, 'size' | 'bytes'>;

/**
 * The MACs of a tree that the sealer has made, by each key. It extends and signs no other: the
 * owner of Postgres can append leaves and compute the hashes of a tree, without a key.
 */
export function macsOfTree(keys: readonly MacKey[], organization: string, { size, bytes }: Tree): Buffer {
  // No leaf begins with a letter: this MAC is never one of leaves.
  const tree = Buffer.concat([Buffer.from(`tree\0${size}\0`), bytes]);
  return Buffer.concat(keys.map((key) => macOf(key, organization, tree)));
}

/** True if one of the keys made one of the MACs of this tree. */
export function isMadeTree(
  keys: readonly MacKey[],
  organization: string,
  tree: Tree,
  macs: Uint8Array | null,
): boolean {
  const given = Buffer.from(macs ?? []);
  const macAt = (at: number): Buffer => given.subarray(at * macSize, (at + 1) * macSize);
  const parts = Array.from({ length: Math.floor(given.length / macSize) }, (_, at) => macAt(at));
  const made = keys.map((key) => macsOfTree([key], organization, tree));
  return made.some((mac) => parts.some((part) => timingSafeEqual(mac, part)));
}

function areActs(leaves: Uint8Array): boolean {
  for (let at = 0; at < leaves.length; at += leafSize) if (!isAct(leaves, at)) return false;
  return true;
}

/** The settings with keys of MACs. */
export interface MacKeySettings {
  LEDGER_MAC_KEY?: string | undefined;
  LEDGER_KEY?: string | undefined;
}

/**
 * The keys of the MACs from settings: LEDGER_MAC_KEY, or those derived from LEDGER_KEY. Empty if
 * neither is set. @throws an Error that does not repeat a key.
 */
export function macKeysOf({ LEDGER_MAC_KEY: mac = '', LEDGER_KEY: log = '' }: MacKeySettings): MacKey[] {
  return mac === '' ? readSigningKeys(log).map(macKeyOf) : readMacKeys(mac);
}

/**
 * The keys of acts from settings; a controller or console writes acts with the first. Empty if no
 * setting gives one: then there is no log. @throws an Error that does not repeat a key.
 */
export function actKeysFrom(settings: MacKeySettings): MacKey[] {
  // A config throws when it is asked for a setting that its process does not have.
  const { LEDGER_MAC_KEY: mac = '', LEDGER_KEY: log = '' } = { ...settings };
  return mac === '' ? readSigningKeys(log).map(macKeyOf).map(actKeyOf) : readMacKeys(mac, 'ACT');
}
