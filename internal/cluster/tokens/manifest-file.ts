import { readFile } from 'node:fs/promises';
import { isObject, parseManifests, type Manifest } from '../yaml.ts';
import type { SecretManifest } from '../secret.ts';

/**
 * Reads the Secrets of a file of manifests.
 * @throws an error that names the file and quotes none of its text.
 */
export async function readManifestFile(path: string): Promise<SecretManifest[]> {
  return parseSecrets(await readFile(path, 'utf8'), path);
}

/**
 * Returns the Secrets among YAML documents, including those in a `List`. Ignores other kinds.
 * @throws an error with the place of the fault. It never quotes the text, which holds tokens.
 */
export function parseSecrets(text: string, origin: string): SecretManifest[] {
  const secrets: (Manifest & SecretManifest)[] = [...parseManifests(text, origin)].filter(
    ({ kind }) => kind === 'Secret',
  );
  for (const secret of secrets) checkSecret(secret, origin);
  return secrets;
}

function checkSecret({ metadata, data, stringData }: Manifest, origin: string): void {
  if (!isObject(metadata) || typeof metadata.name !== 'string')
    throw new Error(`${origin}: a Secret has no metadata.name`);
  for (const [field, part] of Object.entries({
    'metadata.labels': metadata.labels,
    'metadata.annotations': metadata.annotations,
    data,
    stringData,
  })) {
    if (part !== undefined && part !== null && !isObject(part)) {
      throw new Error(`${origin}: Secret ${metadata.name}: ${field} must be a mapping`);
    }
  }
}
