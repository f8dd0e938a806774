import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What decides how prettier formats a file, besides its name and its content. */
const deciding = ['node_modules/prettier/package.json', '.prettierrc.json', '.prettierignore'];

/** Files that prettier may not have seen with their name and content. */
export interface Unformatted {
  readonly files: readonly string[];
  /** Remembers them, in the user's cache folder, as formatted: prettier takes 20 s for all. */
  readonly remember: () => Promise<void>;
}

/** The files that git tracks or would add, without those that are known to be formatted. */
export async function unformattedFiles(): Promise<Unformatted> {
  const settings = await Promise.all(deciding.map((file) => readFile(file, 'utf8')));
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runledger');
  const list = join(folder, `formatted-${hash('sha256', settings.join()).slice(0, 16)}`);
  const known = new Set((await readFile(list, 'utf8').catch(() => '')).split('\n'));
  const named = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  const keys = new Map<string, string>();
  for (const file of named.trim().split('\n').filter(existsSync)) {
    const key = hash('sha256', Buffer.concat([Buffer.from(`${file}\0`), await readFile(file)]));
    if (!known.has(key)) keys.set(file, key);
  }
  const remember = async (): Promise<void> => {
    await mkdir(folder, { recursive: true });
    await appendFile(list, [...keys.values()].map((key) => `${key}\n`).join(''));
  };
  return { files: [...keys.keys()], remember };
}
