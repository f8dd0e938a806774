import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const folder = process.env['NODE_COMPILE_CACHE'];

/** Passes the compile cache of this run on: without it each process strips and compiles again. */
export const compileCache: NodeJS.ProcessEnv = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };

/**
 * A process that a test starts. It keeps the last 2,000 lines of output for error messages, and
 * ends with this process at the latest.
 */
export class Child {
  readonly process: ChildProcess;
  readonly output: string[] = [];
  /** Resolves with the exit code; with null when a signal ended it or it could not start. */
  readonly exited: Promise<number | null>;
  readonly #waiting = new Set<(line: string) => void>();

  constructor(command: string, args: readonly string[], options: SpawnOptions = {}) {
    const env = options.env && { ...compileCache, ...options.env };
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
      ...(env && { env }),
    });
    this.process = child;
    running.add(child);
    const failed = once(child, 'error').then(([error]) => {
      this.output.push(String(error));
      return null;
    });
    const closed = once(child, 'close').then(([code]) => code as number | null);
    this.exited = Promise.race([closed, failed]).finally(() => running.delete(child));
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#take(line));
    }
  }

  /** False once the process has ended, for whatever reason. */
  get alive(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  #take(line: string): void {
    this.output.push(line);
    if (this.output.length > 2_000) this.output.shift();
    for (const check of this.#waiting) check(line);
  }

  /**
   * Resolves with the first line, printed already or still to come, that matches. Rejects when the
   * process ends before.
   */
  async line(pattern: RegExp): Promise<string> {
    const seen = this.output.find((line) => pattern.test(line));
    if (seen !== undefined) return seen;
    const { promise, resolve } = Promise.withResolvers<string>();
    const check = (line: string): void => {
      if (pattern.test(line)) resolve(line);
    };
    this.#waiting.add(check);
    const ended = this.exited.then((code) => {
      throw new Error(`process ended with ${code} before ${String(pattern)}:\n${this.output.slice(-40).join('\n')}`);
    });
    try {
      return await Promise.race([promise, ended]);
    } finally {
      this.#waiting.delete(check);
    }
  }

  /** Sends a signal and resolves with the exit code, null when the signal ended it. */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.alive) this.process.kill(signal);
    return this.exited;
  }
}
