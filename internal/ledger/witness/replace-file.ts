import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates or replaces a file for this user only. Writes another file and renames it, so that a
 * crash leaves the old or the new one. Resolves once the new one is on disk.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.next`;
  await using file = await open(next, 'w', 0o600);
  // A crash may have left it with other permissions.
  await file.chmod(0o600);
  await file.writeFile(text);
  await file.sync();
  await rename(next, path);
  await using folder = await open(dirname(path));
  await folder.sync();
}
