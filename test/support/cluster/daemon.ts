import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/**
 * A program that runs until it is stopped, or until this process ends. Its output goes to a file.
 */
export class Daemon {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(path: string, flags: readonly string[], logFile: string) {
    const log = createWriteStream(logFile, { flags: 'a' });
    this.#child = spawn(path, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.pipe(log, { end: false });
    this.#child.stderr?.pipe(log, { end: false });
    running.add(this.#child);
    this.#exited = once(this.#child, 'close').finally(() => {
      running.delete(this.#child);
      log.end();
    });
  }

  /** False as soon as the program has ended, for whatever reason. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends the program and waits until it is gone. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.alive) this.#child.kill(signal);
    await this.#exited;
  }
}
