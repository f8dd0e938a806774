import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { SecretManifest } from './secret-manifest.ts';

/**
 * Reads the Secrets of a file of manifests.
 * @throws an error that names the file and quotes none of its text.
 */
export async function readManifestFile(path: string): Promise<SecretManifest[]> {
  return parseManifests(await readFile(path, 'utf8'), path);
}

/**
 * Returns the Secrets among YAML documents, also those in a `List`. Ignores other kinds.
 * @throws an error with the place of the fault. It never quotes the text, which holds tokens; the
 * YAML library's own messages would.
 */
export function parseManifests(text: string, origin: string): SecretManifest[] {
  const manifests: SecretManifest[] = [];
  for (const document of parseAllDocuments(text, { prettyErrors: true, logLevel: 'silent' })) {
    const [fault] = document.errors;
    if (fault !== undefined) {
      const { line, col } = fault.linePos?.[0] ?? { line: 1, col: 1 };
      throw new Error(`${origin}: line ${line}, column ${col}: not valid YAML (${fault.code})`);
    }
    const value: unknown = document.toJS();
    if (value !== null) manifests.push(...secretsOf(value, origin));
  }
  return manifests;
}

function secretsOf(value: unknown, origin: string): SecretManifest[] {
  if (!isObject(value) || typeof value.kind !== 'string') {
    throw new Error(`${origin}: every document must be a Kubernetes manifest with a kind`);
  }
  if (value.kind === 'List') return asArray(value.items).flatMap((item) => secretsOf(item, origin));
  if (value.kind !== 'Secret') return [];
  const { metadata, data, stringData } = value;
  if (!isObject(metadata) || typeof metadata.name !== 'string')
    throw new Error(`${origin}: a Secret has no metadata.name`);
  for (const [field, part] of Object.entries({ 'metadata.labels': metadata.labels, data, stringData })) {
    if (part !== undefined && part !== null && !isObject(part)) {
      throw new Error(`${origin}: Secret ${metadata.name}: ${field} must be a mapping`);
    }
  }
  return [value];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
