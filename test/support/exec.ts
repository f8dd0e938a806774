import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';

/** What a caller sees of a program. */
export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

const launcher = join(import.meta.dirname, '../../cmd/exec/runledger');

/** The automation of the runs that tests report. */
export const automation = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

/** A command with `runledger exec` before it. */
export function reported(command: readonly string[], options: readonly string[] = []): string[] {
  return [launcher, 'exec', '--automation', automation, ...options, '--', ...command];
}

/** `runledger` with these arguments. */
export function runledger(...args: string[]): string[] {
  return [launcher, ...args];
}

/** The environment of a command: that of a plain login, and the settings. */
export function environmentWith(settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { HOME, TMPDIR } = process.env;
  return { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME, ...(TMPDIR && { TMPDIR }), ...settings };
}

/** Runs a program to its end. `meanwhile` gets its process. */
export async function outcomeOf(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  options: SpawnOptions = {},
  meanwhile: (pid: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<Outcome> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, ...options });
  const read = (stream: Readable | null): Promise<string> => (stream === null ? Promise.resolve('') : text(stream));
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    read(child.stdout),
    read(child.stderr),
    meanwhile(child.pid ?? 0),
  ]);
  return { code, signal, stdout, stderr };
}
