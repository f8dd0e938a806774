import { open, readFile } from 'node:fs/promises';
import type { KeyStore } from './key-store.ts';

/** A key in a file that only its owner reads. */
export function fileKeyStore(path: string): KeyStore {
  const isCode = (error: unknown, code: string): boolean =>
    error instanceof Error && 'code' in error && error.code === code;
  return {
    read: () =>
      readFile(path, 'utf8').catch((error: unknown) => {
        if (isCode(error, 'ENOENT')) return undefined;
        throw error;
      }),
    create: async (key) => {
      try {
        await using file = await open(path, 'wx', 0o600);
        await file.writeFile(key);
        await file.sync();
      } catch (error) {
        if (!isCode(error, 'EEXIST')) throw error;
      }
    },
  };
}
