import { readlinkSync } from 'node:fs';
import { open, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { openFolder } from '../../../internal/record/archive/folder.ts';
import { temporaryFolder } from '../../support/export.ts';

describe('an archive in a folder', () => {
  it('makes an object durable, and each new folder above it', async () => {
    await using folder = await temporaryFolder();
    const objects = openFolder(join(folder.path, 'archive'));
    const synced = await pathsSynced(async () => {
      await objects.write('organization=acme/day=2026-11-20/events.csv', piecesOf('a'));
    });
    expect(synced.map((path) => relative(folder.path, path))).to.have.members([
      '',
      'archive',
      'archive/organization=acme',
      'archive/organization=acme/day=2026-11-20/events.csv.partial',
      'archive/organization=acme/day=2026-11-20',
    ]);
  });

  it('is for this user only, also where an earlier try left a part with other rights', async () => {
    await using folder = await temporaryFolder();
    const root = join(folder.path, 'archive');
    const objects = openFolder(root);
    await objects.write('day=1/first', piecesOf('a'));
    await writeFile(join(root, 'day=1/second.partial'), 'b', { mode: 0o644 });
    await objects.write('day=1/second', piecesOf('c'));
    const modes = ['', 'day=1', 'day=1/first', 'day=1/second'].map(async (name) => {
      return ((await stat(join(root, name))).mode & 0o777).toString(8);
    });
    expect(await Promise.all(modes)).to.deep.equal(['700', '700', '600', '600']);
  });
});

async function* piecesOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** The files and folders that the work makes durable with fsync. */
async function pathsSynced(work: () => Promise<void>): Promise<string[]> {
  await using handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  const sync = Reflect.get(prototype, 'sync');
  const paths: string[] = [];
  prototype.sync = function noting(this: FileHandle): Promise<void> {
    paths.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  };
  try {
    await work();
  } finally {
    prototype.sync = sync;
  }
  return paths;
}
