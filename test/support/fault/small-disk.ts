import { execFile, execFileSync } from 'node:child_process';
import { chown, mkdir, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { UserIds } from '../postgres-server.ts';

const run = promisify(execFile);

/** Room while the disk is not full, in bytes. It costs memory only as far as it is used. */
const room = 2 * 1024 ** 3;

/**
 * A file system of its own for a tablespace (tmpfs), that can be made full at any time. Needs the
 * right to mount.
 */
export class SmallDisk {
  readonly folder: string;
  readonly #unmountAtExit = (): void => void execFileSync('umount', ['-l', this.folder], { stdio: 'ignore' });

  private constructor(folder: string) {
    this.folder = folder;
    process.once('exit', this.#unmountAtExit);
  }

  /** Undefined where this process may not mount: nothing can be full then. */
  static async mount(folder: string, owner: UserIds | undefined): Promise<SmallDisk | undefined> {
    await mkdir(folder);
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${room}`, 'tmpfs', folder]);
    } catch {
      return undefined;
    }
    if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
    return new SmallDisk(folder);
  }

  /**
   * Leaves room for nothing more. A size below what is used is refused, and more may be by the time
   * it is set.
   */
  async fill(triesLeft = 20): Promise<void> {
    const { blocks, bfree, bsize } = await statfs(this.folder);
    try {
      await this.#resize((blocks - bfree) * bsize);
    } catch (error) {
      if (triesLeft === 0) throw error;
      await this.fill(triesLeft - 1);
    }
  }

  async makeRoom(): Promise<void> {
    await this.#resize(room);
  }

  async unmount(): Promise<void> {
    process.off('exit', this.#unmountAtExit);
    await run('umount', ['-l', this.folder]);
  }

  async #resize(bytes: number): Promise<void> {
    await run('mount', ['-o', `remount,size=${Math.max(bytes, 4_096)}`, this.folder]);
  }
}
