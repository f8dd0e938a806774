import { existsSync, rmSync, writeFileSync } from 'node:fs';

/**
 * libfaketime (Debian's package faketime): it answers a process' questions for the time of day, and
 * only those.
 */
const library = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib']
  .map((folder) => `${folder}/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));

/** False where libfaketime is not installed: clocks cannot be stepped then. */
export const clocksCanStep = library !== undefined;

/**
 * Removes what libfaketime leaves behind of a process that was killed: another one may be given the
 * same number.
 */
export function forgetProcess(pid: number | undefined): void {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`]) rmSync(`/dev/shm/${name}`, { force: true });
}

/** The time of day as one pod sees it. */
export class Clock {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    this.step(0);
  }

  /** Environment of the process that shall see this clock. Steps reach it within a second. */
  get environment(): Record<string, string> {
    if (library === undefined) return {};
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Sets the clock so many seconds ahead of the true time (behind it, when negative). */
  step(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s\n`);
  }
}
