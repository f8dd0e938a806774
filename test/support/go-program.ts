import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A program of a Go module under `test/cluster/tools`, built once for each version of its `go.sum`
 * and its sources into the user's cache folder. Resolves with its path.
 */
export async function goProgram(name: string, command: string): Promise<string> {
  const source = join(import.meta.dirname, '../cluster/tools', name);
  const sources = (await readdir(source)).filter((file) => file.endsWith('.go'));
  const key = createHash('sha256');
  for (const file of ['go.sum', ...sources.sort()]) key.update(await readFile(join(source, file)));
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runledger');
  const program = join(cache, `${name}-${key.digest('hex').slice(0, 16)}`);
  if (await exists(program)) return program;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${program}-`);
  try {
    const [built, env] = [join(folder, name), { ...process.env, GOFLAGS: '', CGO_ENABLED: '0' }];
    const args = ['build', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', built, command];
    await promisify(execFile)('go', args, { cwd: source, env });
    await rename(built, program);
  } finally {
    await rm(folder, { recursive: true });
  }
  return program;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
