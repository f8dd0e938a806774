import { stat } from 'node:fs/promises';
import { Repeating } from '../kit/async/repeating.ts';

export interface WatchedFileOptions<T> {
  readonly path: string;
  /** Reads the file. @throws when its content is invalid. */
  readonly read: () => Promise<T>;
  /** Receives the content at the start, and after each change. */
  readonly onContent: (content: T) => void;
  /** Called when a change made the file invalid. The last valid content stays in use. */
  readonly onInvalid: (error: unknown) => void;
  /** Called at each check that finds the content in use unchanged. */
  readonly onUnchanged?: () => void;
  /** Interval of checks for changes, in ms. */
  readonly intervalMs?: number | undefined;
}

/** Reads a file, and again when it changes. At `start` an invalid file is an error. */
export class WatchedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  readonly #intervalMs: number;
  #version = '';
  /** The version of the file whose content is in use. */
  #taken = '';
  readonly #refreshes: Repeating;
  #refreshing: Promise<unknown> = Promise.resolve();

  constructor(options: WatchedFileOptions<T>) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? 1_000;
    // Checks the path: a watch of the inode or the folder misses a renamed file and a swapped
    // symlink.
    this.#refreshes = new Repeating(async () => {
      await this.refresh();
      return this.#intervalMs;
    });
  }

  async start(): Promise<void> {
    const { path, read, onContent } = this.#options;
    this.#version = await versionOf(path);
    onContent(await read());
    this.#taken = this.#version;
    this.#refreshes.start(this.#intervalMs);
  }

  async stop(): Promise<void> {
    await this.#refreshes.stop();
    await this.#refreshing;
  }

  /** Reads the file again if it changed. Calls run one after another. */
  async refresh(): Promise<void> {
    const next = this.#refreshing.then(() => this.#readIfChanged());
    this.#refreshing = next;
    await next;
  }

  async #readIfChanged(): Promise<void> {
    const { path, read, onContent, onInvalid, onUnchanged } = this.#options;
    const version = await versionOf(path);
    if (version === this.#taken) onUnchanged?.();
    if (version === this.#version) return;
    const before = this.#version;
    this.#version = version;
    try {
      const content = await read();
      // A writer is still at work. Half a file may be valid, and lack the other half.
      if ((await versionOf(path)) !== version) {
        this.#version = before;
        return;
      }
      onContent(content);
      this.#taken = version;
    } catch (error) {
      onInvalid(error);
    }
  }
}

/**
 * Returns a text that changes when the content may have changed. It is constant while the file is
 * missing.
 */
async function versionOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return String(error);
  }
}
