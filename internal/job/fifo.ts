import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The ends of a pipe. */
export interface Fifo {
  /** Never blocks. */
  readonly reader: number;
  /** Another reading end, which blocks: for a program that reads on when this process has ended. */
  readonly blockingReader: number;
  readonly writer: number;
}

/**
 * Makes a pipe. Node gives a child a socket where it says "pipe", and a program cannot open a
 * socket as `/dev/stderr`. Undefined when no folder for temporary files can be written to.
 */
export function makeFifo(): Fifo | undefined {
  for (const folder of [tmpdir(), '/dev/shm']) {
    const path = join(folder, `.runledger-${process.pid}-${process.hrtime.bigint().toString(36)}`);
    try {
      execFileSync('mkfifo', ['-m', '600', path], { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } });
    } catch {
      continue;
    }
    return openEnds(path);
  }
  return undefined;
}

function openEnds(path: string): Fifo | undefined {
  const opened: number[] = [];
  const open = (flags: number): number => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  try {
    const reader = open(constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = open(constants.O_WRONLY);
    return { reader, writer, blockingReader: open(constants.O_RDONLY) };
  } catch {
    for (const fd of opened) closeSync(fd);
    return undefined;
  } finally {
    unlinkSync(path);
  }
}
