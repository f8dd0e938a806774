import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { NoSuchObject, type Objects } from './objects.ts';
import { untilAborted } from './until-aborted.ts';

/** The extension of an unfinished file. */
const unfinished = '.partial';

/**
 * Objects as files below a folder, which the first write creates. They hold events, so only this
 * user may read them.
 */
export function openFolder(root: string): Objects {
  return {
    where: pathToFileURL(root).href,
    list: async (prefix) => {
      const entries = await readdir(join(root, prefix), { recursive: true, withFileTypes: true }).catch(noneIfAbsent);
      const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith(unfinished));
      return files.map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll('\\', '/'));
    },
    read: (name) => readFileOf(root, name),
    readRange: (name, start, to) => buffer(readFileOf(root, name, { start, end: to - 1 })),
    write: async (name, pieces, signal) => {
      const path = join(root, name);
      await makeFolder(dirname(path));
      const partial = `${path}${unfinished}`;
      try {
        await writeDurably(partial, untilAborted(pieces, signal));
        await rename(partial, path);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    close: () => undefined,
  };
}

async function* readFileOf(root: string, name: string, range = {}): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(join(root, name), range) as AsyncIterable<Uint8Array>;
  } catch (error) {
    // Without the folder itself, a volume is not mounted.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(root))
      throw new NoSuchObject(name, { cause: error });
    throw error;
  }
}

async function writeDurably(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    // An earlier attempt may have left it with other permissions.
    await file.chmod(0o600);
    for await (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Creates a folder and its missing parents, all durably. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Makes new names in a folder durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function noneIfAbsent(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
