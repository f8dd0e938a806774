import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file, or makes it, for this user only. Writes another file and renames it, so that a
 * crash leaves the old or the new one. Resolves once the new one is on disk.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.next`;
  await using file = await open(next, 'w', 0o600);
  // It may be left from a crash, with other rights.
  await file.chmod(0o600);
  await file.writeFile(text);
  await file.sync();
  await rename(next, path);
  await using folder = await open(dirname(path));
  await folder.sync();
}
