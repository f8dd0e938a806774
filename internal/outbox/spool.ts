import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Outgoing } from './outgoing.ts';

export interface SpoolOptions {
  readonly folder: string;
  /** Bounds of the folder. Concurrent writers may pass them by what they write now. */
  readonly maxBytes: number;
  readonly maxEvents: number;
}

/** `<time in ms>-<number in its run>-<key>-<bytes>.json`: in the order of names, oldest first. */
const nameForm = /^(\d{15})-(\d{3})-[\da-f-]{36}-(\d+)\.(json|refused)$/;

/** A temporary file of this age, in ms, is left of a process that was killed. */
const abandonedMs = 3_600_000;

/** The spool is full. Later there may be room. */
export class SpoolFull extends Error {
  override readonly name = 'SpoolFull';
}

/** A folder of events that Runledger has not confirmed. Any number of processes may share it. */
export class Spool {
  readonly #options: SpoolOptions;
  #sequence = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /**
   * Writes an event. Once it resolves, with the name of the event, a crash does not lose it.
   * Rejects when the disk refuses it, and with {@link SpoolFull} when the disk or a bound is full.
   */
  add(event: Outgoing): Promise<string> {
    const added = this.#last.then(() => this.#add(event));
    this.#last = added.catch(() => undefined);
    return added.catch((error: unknown) => {
      throw isDiskFull(error) ? new SpoolFull(error.message) : error;
    });
  }

  async #add(event: Outgoing): Promise<string> {
    const { folder, maxBytes, maxEvents } = this.#options;
    this.#sequence += 1;
    const order = `${String(event.at).padStart(15, '0')}-${String(this.#sequence).padStart(3, '0')}`;
    const text = JSON.stringify(event);
    const bytes = Buffer.byteLength(text);
    await makeFolder(folder);
    const sizes = (await readdir(folder))
      .map((name) => Number(nameForm.exec(name)?.[3] ?? 0))
      .filter((size) => size > 0);
    const total = sizes.reduce((sum, size) => sum + size, bytes);
    if (sizes.length >= maxEvents) throw new SpoolFull(`the spool has ${maxEvents} events already`);
    if (total > maxBytes) throw new SpoolFull(`the spool would have more than ${maxBytes} bytes`);
    const name = `${order}-${event.key}-${bytes}.json`;
    await this.#write(name, text);
    return name;
  }

  /** The names of the events that wait, oldest first; none while there is no folder. */
  async waiting(): Promise<string[]> {
    const names = await readdir(this.#options.folder).catch(() => []);
    for (const name of names.filter((one) => one.startsWith('.'))) await this.#removeIfAbandoned(name);
    return names.filter((name) => nameForm.exec(name)?.[4] === 'json').sort();
  }

  /** How many events Runledger refused. */
  async refused(): Promise<number> {
    const names = await readdir(this.#options.folder).catch(() => []);
    return names.filter((name) => nameForm.exec(name)?.[4] === 'refused').length;
  }

  /** Undefined if another process has removed it meanwhile, or the file is damaged. */
  async read(name: string): Promise<Outgoing | undefined> {
    try {
      const found = JSON.parse(await readFile(join(this.#options.folder, name), 'utf8')) as Partial<Outgoing> | null;
      const { key, body, at } = found ?? {};
      return typeof key === 'string' && typeof body === 'string' && typeof at === 'number'
        ? { key, body, at }
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** Removes an event, or does nothing if another process has. */
  async remove(name: string): Promise<void> {
    await unlink(join(this.#options.folder, name)).catch(() => undefined);
  }

  /** Sets an event aside that Runledger refuses for good: people look at it. */
  async setAside(name: string): Promise<void> {
    const path = join(this.#options.folder, name);
    await rename(path, path.replace(/json$/, 'refused')).catch(() => undefined);
  }

  async #write(name: string, text: string): Promise<void> {
    const { folder } = this.#options;
    const temporary = join(folder, `.${randomUUID()}`);
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, join(folder, name));
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
    const directory = await open(folder, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  async #removeIfAbandoned(name: string): Promise<void> {
    const path = join(this.#options.folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > abandonedMs) await unlink(path).catch(() => undefined);
  }
}

/** Makes a folder and those above it. Node's `recursive` never ends below /proc. */
async function makeFolder(folder: string, mayAddParent = true): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || !mayAddParent) throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder, false);
  }
}

function isDiskFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
