import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { goProgram } from './go-program.ts';

/** What a log serves, by path below its prefix. */
export type ServedLog = ReadonlyMap<string, Buffer | string>;

/**
 * Checks a log with golang.org/x/mod/sumdb, in test/cluster/tools/log. Resolves with its sentence;
 * rejects with what it found wrong.
 */
export async function checkByGo(log: ServedLog, publicKey: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'runledger-log-'));
  try {
    for (const [path, content] of log) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return await run(folder, publicKey);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The same with tessera's fsck, for a log that is served below `prefix` to such requests. */
export function checkByTessera(prefix: string, publicKey: string, headers: Record<string, string>): Promise<string> {
  return run(prefix, publicKey, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`));
}

async function run(...args: string[]): Promise<string> {
  const program = await goProgram('log', '.');
  try {
    return (await promisify(execFile)(program, args)).stdout.trim();
  } catch (error) {
    throw new Error((error as { stderr?: string }).stderr?.trim() ?? String(error), {
      cause: error,
    });
  }
}
