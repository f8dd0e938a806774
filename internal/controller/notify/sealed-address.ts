import { CompactEncrypt, compactDecrypt, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

/** The address of a chat, and a token if it needs one; they belong to one channel. */
export interface ChannelAddress {
  organization: string;
  name: string;
  url: string;
  token: string;
}

const alg = 'ECDH-ES';

/** A new private key, as a JWK in JSON. */
export async function newPrivateKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(alg, { crv: 'X25519', extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

/** The public half of a private key. */
export function publicKeyOf(privateKey: string): JWK {
  const { kty, crv, x } = JSON.parse(privateKey) as JWK;
  return { ...(kty !== undefined && { kty }), ...(crv !== undefined && { crv }), ...(x !== undefined && { x }) };
}

/** Encrypts an address so that only the controller can read it. */
export async function sealAddress(address: ChannelAddress, publicKey: JWK): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(address));
  const key = await importJWK(publicKey, alg);
  return new CompactEncrypt(text).setProtectedHeader({ alg, enc: 'A256GCM' }).encrypt(key);
}

/**
 * Decrypts an address. Rejects for another key, and for the address of another channel: nobody
 * gains by copying rows.
 */
export async function openAddress(
  sealed: string,
  privateKey: string,
  { organization, name }: { organization: string; name: string },
): Promise<ChannelAddress> {
  const key = await importJWK(JSON.parse(privateKey) as JWK, alg);
  const { plaintext } = await compactDecrypt(sealed, key);
  const address = JSON.parse(new TextDecoder().decode(plaintext)) as ChannelAddress;
  if (address.organization !== organization || address.name !== name) throw new Error('it is that of another channel');
  return address;
}
