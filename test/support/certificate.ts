import { mkdtemp, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { Certificate } from '../../internal/intake/http/certificate.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import { replaceFile } from './replace-file.ts';

/** A key and its certificate, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Where a server of a test listens, and the pair that it shows. */
export interface Place {
  host: string;
  port: number;
  pair: KeyPair;
}

/**
 * A self-signed pair for the names or addresses, 127.0.0.1 and localhost. Callers trust it with its
 * certificate as their CA.
 */
export async function createKeyPair(commonName: string, ...others: string[]): Promise<KeyPair> {
  const given = [commonName, ...others].map((name) =>
    isIP(name) === 0 ? { type: 2 as const, value: name } : { type: 7 as const, ip: name },
  );
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [...given, { type: 2, value: 'localhost' }, { type: 7, ip: '127.0.0.1' }],
      },
    ],
  });
  return { cert, key };
}

/** The files that TLS_CERT_FILE and TLS_KEY_FILE name, in a temporary folder. */
export class CertificateFiles implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(pair: KeyPair): Promise<CertificateFiles> {
    const files = new CertificateFiles(await mkdtemp(join(tmpdir(), 'runledger-tls-')));
    await files.replace(pair);
    return files;
  }

  get settings(): { TLS_CERT_FILE: string; TLS_KEY_FILE: string } {
    return { TLS_CERT_FILE: join(this.#folder, 'tls.crt'), TLS_KEY_FILE: join(this.#folder, 'tls.key') };
  }

  async replace({ cert, key }: KeyPair): Promise<void> {
    const { TLS_CERT_FILE, TLS_KEY_FILE } = this.settings;
    await replaceFile(TLS_CERT_FILE, cert);
    await replaceFile(TLS_KEY_FILE, key, 0o600);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A certificate for this name, in files that end with their block. */
export async function certificateIn(
  commonName: string,
  logger: Logger,
  checkEveryMs?: number,
): Promise<AsyncDisposable & { pair: KeyPair; files: CertificateFiles; certificate: Certificate }> {
  const pair = await createKeyPair(commonName);
  const files = await CertificateFiles.create(pair);
  const { TLS_CERT_FILE, TLS_KEY_FILE } = files.settings;
  const certificate = new Certificate(TLS_CERT_FILE, TLS_KEY_FILE, logger, checkEveryMs);
  return { pair, files, certificate, [Symbol.asyncDispose]: () => files[Symbol.asyncDispose]() };
}
