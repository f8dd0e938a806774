import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/**
 * Files of the API server's TLS, and of the keys that it signs and checks service-account tokens
 * with.
 */
export interface Keys {
  readonly certificate: string;
  readonly key: string;
  readonly signingKey: string;
  readonly verificationKey: string;
  /** The certificate, which signed itself, as PEM. */
  readonly ca: string;
}

/** New ones, in a folder. The certificate is for 127.0.0.1. */
export async function writeKeys(folder: string): Promise<Keys> {
  const tls = await generate([{ name: 'commonName', value: 'runledger cluster tests' }], {
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  const account = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const write = async (name: string, pem: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, pem, { mode: 0o600 });
    return path;
  };
  return {
    certificate: await write('tls.crt', tls.cert),
    key: await write('tls.key', tls.private),
    signingKey: await write('account.key', account.privateKey),
    verificationKey: await write('account.pub', account.publicKey),
    ca: tls.cert,
  };
}
