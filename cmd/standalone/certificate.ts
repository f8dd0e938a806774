import { access, writeFile } from 'node:fs/promises';
import { generate } from 'selfsigned';
import type { DataFolder } from './data-folder.ts';

/** Creates a self-signed certificate for this machine once, and keeps it. */
export async function ensureCertificate(folder: DataFolder): Promise<void> {
  const present = await access(folder.certificate).then(
    () => true,
    () => false,
  );
  if (present) return;
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + 10);
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  await writeFile(folder.key, key, { mode: 0o600 });
  await writeFile(folder.certificate, cert);
}
