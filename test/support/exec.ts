import { execFileSync, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repository } from './helm.ts';

/** What a caller sees of a program. */
export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** The program `runledger`, as `make command` builds it. */
export const program = join(repository, '.cache/runledger/runledger');

/** The automation of the runs that tests report. */
export const automation = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

/** A command with `runledger exec` before it. */
export function reported(command: readonly string[], options: readonly string[] = []): string[] {
  return [program, 'exec', '--automation', automation, ...options, '--', ...command];
}

/** `runledger` with these arguments. */
export function runledger(...args: string[]): string[] {
  return [program, ...args];
}

/** The environment of a command: that of a plain login, and the settings. */
export function environmentWith(settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { HOME, TMPDIR } = process.env;
  return {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    ...settings,
  };
}

/**
 * Runs a program to its end, on real pipes as a shell makes them: Node would give it sockets.
 * `meanwhile` gets its process id.
 */
export async function outcomeOf(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  options: SpawnOptions = {},
  meanwhile: (pid: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<Outcome> {
  const [out, error] = [pipe(), pipe()];
  const child = spawn(program, args, {
    stdio: ['ignore', out.writer, error.writer],
    env,
    ...options,
  });
  closeSync(out.writer);
  closeSync(error.writer);
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
    out.content,
    error.content,
    meanwhile(child.pid ?? 0),
  ]);
  return { code, signal, stdout, stderr };
}

/** A pipe, made of a FIFO: Node cannot make one. */
function pipe(): { writer: number; content: Promise<string> } {
  const path = join(tmpdir(), `.runledger-${process.pid}-${process.hrtime.bigint().toString(36)}`);
  execFileSync('mkfifo', ['-m', '600', path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  unlinkSync(path);
  return { writer, content: text(new Socket({ fd: reader, readable: true, writable: false })) };
}
