import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Counts {
  passing: number;
  pending: number;
  failing: number;
}

/** A file that a process has taken; with its counts once it has ended. */
export interface Note {
  /** Of the process that took it. */
  pid: number;
  counts?: Counts;
}

/**
 * Which test files have begun and how they ended: a small file for each, in a folder that the
 * processes of a tier share.
 */
export class Notes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes a group of files for this process. False when another process has taken it. */
  async take(files: readonly string[]): Promise<boolean> {
    const note = JSON.stringify({ pid: process.pid } satisfies Note);
    const [first = '', ...others] = files;
    try {
      await writeFile(this.#path(first), note, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
    for (const file of others) await writeFile(this.#path(file), note);
    return true;
  }

  async end(file: string, pid: number, counts: Counts): Promise<void> {
    await writeFile(this.#path(file), JSON.stringify({ pid, counts } satisfies Note));
  }

  /** Undefined for a file that no process has taken. */
  async read(file: string): Promise<Note | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(file), 'utf8')) as Note;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The file may be taken again. */
  async forget(file: string): Promise<void> {
    await rm(this.#path(file), { force: true });
  }

  #path(file: string): string {
    return join(this.#folder, file.replaceAll('/', '+'));
  }
}
