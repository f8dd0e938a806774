import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../cluster/tools/log');

/** What a log serves, by path below its prefix. */
export type ServedLog = ReadonlyMap<string, Buffer | string>;

/**
 * Checks a log with golang.org/x/mod/sumdb, in test/cluster/tools/log. Resolves with its sentence;
 * rejects with what it found wrong.
 */
export async function checkByGo(log: ServedLog, publicKey: string): Promise<string> {
  const program = await built();
  const folder = await mkdtemp(join(tmpdir(), 'runledger-log-'));
  try {
    for (const [path, content] of log) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return (await run(program, [folder, publicKey])).stdout.trim();
  } catch (error) {
    throw new Error((error as { stderr?: string }).stderr?.trim() ?? String(error), { cause: error });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The program, built once into the user's cache folder. */
async function built(): Promise<string> {
  const key = createHash('sha256');
  for (const file of ['go.sum', 'main.go']) key.update(await readFile(join(source, file)));
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runledger');
  const program = join(cache, `log-${key.digest('hex').slice(0, 16)}`);
  if (
    await access(program).then(
      () => true,
      () => false,
    )
  )
    return program;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${program}-`);
  const env = { ...process.env, GOFLAGS: '', CGO_ENABLED: '0' };
  await run('go', ['build', '-mod=readonly', '-trimpath', '-o', join(folder, 'log'), '.'], { cwd: source, env });
  await rename(join(folder, 'log'), program);
  await rm(folder, { recursive: true });
  return program;
}
