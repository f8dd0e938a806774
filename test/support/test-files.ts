import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files of a block of tests, in a folder that ends with it. */
export function testFiles() {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-files-'));
  });
  after(() => rm(folder, { recursive: true }));
  return {
    path: (name: string): string => join(folder, name),
    /** Resolves with the path of the file. */
    write: async (name: string, content: string | Buffer): Promise<string> => {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
      return path;
    },
  };
}
