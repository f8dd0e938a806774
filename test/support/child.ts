import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A child process of a test: its output is kept for error messages, its end can be awaited. */
export class Child {
  readonly process: ChildProcess;
  readonly output: string[] = [];
  readonly exited: Promise<number | null>;
  readonly #waiting = new Set<(line: string) => void>();

  constructor(command: string, args: string[], options: SpawnOptions = {}) {
    this.process = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const failed = once(this.process, 'error').then(([error]) => {
      this.output.push(String(error));
      return null;
    });
    const closed = once(this.process, 'close').then(([code]) => code as number | null);
    this.exited = Promise.race([closed, failed]);
    for (const stream of [this.process.stdout, this.process.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.#take(line));
    }
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
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    return this.exited;
  }
}
