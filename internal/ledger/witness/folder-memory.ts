import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openCheckpoint, type TreeHead } from '../checkpoint.ts';
import { originOf, type VerifierKey } from '../keys.ts';
import type { HeadMemory } from '../signer.ts';
import { replaceFile } from './replace-file.ts';

/**
 * Keeps the last signed checkpoint of each log in a folder outside the database, in a file with the
 * percent-encoded name of the log. It is on disk before the checkpoint is in the database. Several
 * workers may share the folder, since one at a time signs.
 */
export class FolderMemory implements HeadMemory {
  readonly #folder: string;
  readonly #keys: readonly VerifierKey[];
  readonly #name: string;

  /** @param keys the keys of the logs, at least one; the first names the logs. */
  constructor(folder: string, keys: readonly VerifierKey[]) {
    this.#folder = folder;
    this.#keys = keys;
    this.#name = keys[0]?.name ?? '';
  }

  async recall(organization: string): Promise<TreeHead | undefined> {
    const path = this.#path(organization);
    try {
      return openCheckpoint(await readFile(path, 'utf8'), organization, this.#keys);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw new Error(`the file ${path} cannot be read as a checkpoint of this key`, { cause: error });
    }
  }

  async keep(organization: string, _head: TreeHead, note: string): Promise<void> {
    await replaceFile(this.#path(organization), note).catch((error: unknown) => {
      throw new Error(`the folder ${this.#folder} of LEDGER_WITNESSES cannot be written`, { cause: error });
    });
  }

  #path(organization: string): string {
    return join(this.#folder, encodeURIComponent(originOf(this.#name, organization)));
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
