import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended } from './ended.ts';
import { restoringScript, type Inherited } from './inherited.ts';
import { passSignalsOn } from './signals.ts';
import { chooseStreams } from './streams.ts';

export interface CommandOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly inherited: Inherited | undefined;
  /** False leaves standard error alone. */
  readonly wantsTail: boolean;
}

export interface CommandEnd {
  readonly ended: Ended;
  /** The last lines of its standard error; empty where they cannot be had. */
  readonly tail: string;
}

/** The command cannot be run. The exit code is the one that shells and env(1) have for it. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
  readonly code: 126 | 127;

  constructor(program: string, reason: string, code: 126 | 127) {
    super(`${program}: ${reason}`);
    this.code = code;
  }
}

/**
 * Runs a command in this process group, with this terminal, these streams and signals. Resolves
 * when it has ended and its output is passed on. Signals are still caught then.
 * @throws {CannotRun} at once, or rejects with it.
 */
export function runCommand([program = '', ...args]: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  const { environment, inherited, wantsTail } = options;
  requireProgram(program, environment['PATH'] ?? '/usr/bin:/bin');
  const streams = chooseStreams({ wantsTail });
  const descriptors = inherited?.descriptors ?? [];
  const stdio = [0, streams.stdout, streams.stderr, ...beyondStderr(descriptors)];
  const direct = inherited === undefined;
  // Before the command can get a signal, this process catches it: otherwise only this one ends.
  const early: NodeJS.Signals[] = [];
  let send = (signal: NodeJS.Signals): unknown => early.push(signal);
  passSignalsOn((signal) => void send(signal));
  const child = direct
    ? spawn(program, args, { stdio, env: environment })
    : spawn('/bin/sh', ['-c', restoringScript(inherited), 'sh', program, ...args], { stdio, env: environment });
  streams.started();
  send = (signal) => child.kill(signal);
  for (const signal of early) send(signal);
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new CannotRun(program, error.code ?? error.message, 126));
    });
    child.once('exit', (code, signal) => {
      const ended = signal === null ? { code: code ?? 1 } : { signal };
      streams.finish().then((tail) => resolve({ ended, tail }), reject);
    });
  });
}

/** The descriptors from 3 on. A hole is closed by the shell that restores them. */
function beyondStderr(descriptors: readonly number[]): (number | 'ignore')[] {
  const most = Math.max(2, ...descriptors);
  return Array.from({ length: most - 2 }, (_, index) => (descriptors.includes(index + 3) ? index + 3 : 'ignore'));
}

/** @throws {CannotRun} as execvp(3) would fail. */
function requireProgram(program: string, path: string): void {
  const candidates = program.includes('/') ? [program] : path.split(':').map((folder) => join(folder || '.', program));
  const found = candidates.filter((file) => isFile(file));
  if (found.length === 0) throw new CannotRun(program, 'No such file or directory', 127);
  if (!found.some((file) => isExecutable(file))) throw new CannotRun(program, 'Permission denied', 126);
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
