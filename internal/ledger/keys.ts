import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sha256 } from './hashing.ts';

/** The algorithm bytes in keys of signed notes: Ed25519, and timestamped cosignatures with it. */
const ed25519 = 1;
const cosignature = 4;

/** The DER bytes before the 32 bytes of an Ed25519 key in PKCS #8. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A key that signs notes. Its name is the name of the log; see {@link forOrganization}. */
export interface SigningKey {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly publicBytes: Buffer;
}

/** A key that verifies notes. */
export interface VerifierKey {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly publicBytes: Buffer;
}

/** Makes a key: the text of LEDGER_KEY, which golang.org/x/mod/sumdb/note can read too. */
export function createSigningKey(name: string): string {
  requireName(name);
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(pkcs8.length);
  const { publicBytes } = signingKeyOf(name, seed);
  return `PRIVATE+KEY+${name}+${keyId(name, publicBytes).toString('hex')}+${tagged(seed)}`;
}

/** Reads a key of {@link createSigningKey}. @throws an Error that does not repeat the key. */
export function readSigningKey(text: string): SigningKey {
  const [, name = '', id, data = ''] = /^PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? [];
  const seed = untagged(data);
  if (seed === undefined) throw new Error('is no key that `token ledger-key` made');
  const key = signingKeyOf(name, seed);
  if (keyId(name, key.publicBytes).toString('hex') !== id) throw new Error('is damaged: its id does not match it');
  return key;
}

/**
 * Reads keys separated by whitespace. All have the same name, since it names the log.
 * @throws an Error that does not repeat a key.
 */
export function readSigningKeys(text: string): SigningKey[] {
  const keys = text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => readSigningKey(part));
  if (new Set(keys.map(({ name }) => name)).size > 1) throw new Error('the keys of a log must have one name');
  return keys;
}

/** Reads a public key, `name+id+data`. @throws for any other text. */
export function readVerifierKey(text: string): VerifierKey {
  return readPublicKey(text, ed25519);
}

/** Reads the public key of a witness (C2SP tlog-cosignature). @throws for any other text. */
export function readWitnessKey(text: string): VerifierKey {
  return readPublicKey(text, cosignature);
}

function readPublicKey(text: string, algorithm: number): VerifierKey {
  const [, name = '', id, data = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? [];
  const publicBytes = untagged(data, algorithm);
  if (publicBytes === undefined) throw new Error(`is no public key of a ${algorithm === ed25519 ? 'log' : 'witness'}`);
  if (keyId(name, publicBytes, algorithm).toString('hex') !== id) {
    throw new Error('is damaged: its id does not match it');
  }
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicBytes.toString('base64url') };
  return { name, publicBytes, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) };
}

/** The text of the public key, which others verify with. */
export function verifierKeyText({ name, publicBytes }: Pick<VerifierKey, 'name' | 'publicBytes'>): string {
  return `${name}+${keyId(name, publicBytes).toString('hex')}+${tagged(publicBytes)}`;
}

/** The origin of an organization's log: the name of the key, and the organization. */
export function originOf(name: string, organization: string): string {
  return `${name}/${encodeURIComponent(organization)}`;
}

/** The same key with the name of an organization's log: one key serves all logs. */
export function forOrganization<Key extends { readonly name: string }>(key: Key, organization: string): Key {
  return { ...key, name: originOf(key.name, organization) };
}

/** The id at the start of cosignature lines by this key. */
export function witnessKeyId({ name, publicBytes }: VerifierKey): Buffer {
  return keyId(name, publicBytes, cosignature);
}

/** The first four bytes of a hash over name and key, at the start of signature lines. */
export function keyId(name: string, publicBytes: Buffer, algorithm = ed25519): Buffer {
  const head = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([algorithm]), publicBytes]);
  return sha256(head).subarray(0, 4);
}

function signingKeyOf(name: string, seed: Buffer): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { name, privateKey, publicBytes: Buffer.from(x, 'base64url') };
}

function requireName(name: string): void {
  if (/^[^+\s]+$/.test(name)) return;
  throw new Error('the name of a log must be one word without a plus, such as log.example.org');
}

function tagged(key: Buffer): string {
  return Buffer.concat([Buffer.from([ed25519]), key]).toString('base64');
}

function untagged(data: string, algorithm = ed25519): Buffer | undefined {
  const bytes = Buffer.from(data, 'base64');
  const whole = bytes.length === 33 && bytes[0] === algorithm && bytes.toString('base64') === data;
  return whole ? bytes.subarray(1) : undefined;
}
