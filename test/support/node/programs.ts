import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** The Debian package of each program that a node of the tests is made of. */
const packages: Readonly<Record<string, string>> = {
  buildah: 'buildah',
  debootstrap: 'debootstrap',
  ip: 'iproute2',
  nginx: 'nginx-light',
  'redis-server': 'redis-server',
  runc: 'runc',
};

const run = promisify(execFile);

/** Runs a program to its end; resolves with its stdout. */
export async function command(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/**
 * Installs the programs that are missing, on Debian and as root; elsewhere an Error of one line
 * says what is missing.
 */
export async function requirePrograms(): Promise<void> {
  const missing: string[] = [];
  for (const program of Object.keys(packages)) if (!(await installed(program))) missing.push(program);
  if (process.getuid?.() !== 0) throw new Error('The image tests make containers and networks: run them as root.');
  if (missing.length === 0) return;
  const names = missing.map((program) => packages[program] ?? program);
  // Debian starts a service when its package is installed; the tests start their own.
  const quiet = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1'];
  const apt = ['apt-get', '-o', 'DPkg::Lock::Timeout=300', '-qq', '-y', '--no-install-recommends', 'install'];
  await command('env', ...quiet, ...apt, ...names).catch((error: unknown) => {
    throw new Error(`The image tests need ${missing.join(', ')} (Debian: ${names.join(' ')})`, { cause: error });
  });
}

async function installed(program: string): Promise<boolean> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  const tries = folders.map((folder) => access(join(folder, program), constants.X_OK).then(() => true));
  return Promise.any(tries).catch(() => false);
}
