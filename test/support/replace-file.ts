import { rename, writeFile } from 'node:fs/promises';

/**
 * Replaces a file at once, as Kubernetes does it: a process that watches it never reads an empty
 * file or half of one.
 */
export async function replaceFile(path: string, content: string, mode?: number): Promise<void> {
  await writeFile(`${path}.new`, content, { mode });
  await rename(`${path}.new`, path);
}
