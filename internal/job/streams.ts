import { closeSync, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isatty } from 'node:tty';
import { makeFifo } from './fifo.ts';
import { Relay } from './relay.ts';
import { lastLines, Tail, tailBytes } from './tail.ts';

/** File descriptors of the command, and how to get the end of its standard error afterwards. */
export interface Streams {
  readonly stdout: number;
  readonly stderr: number;
  /** Call it once the command has its descriptors. */
  started(): void;
  /** Call it when the command has ended. Resolves with the last lines, once all is passed on. */
  finish(): Promise<string>;
}

/** The descriptors of this process, and no last lines. */
const inherited: Streams = { stdout: 1, stderr: 2, started: () => undefined, finish: () => Promise.resolve('') };

/**
 * Chooses the descriptors of the command so that nothing changes for it (docs/design/exec.md):
 * a terminal or a file stays its own; a pipe is passed on through a pipe. Where standard output and
 * standard error are one pipe, both pass through one, so that their order stays.
 */
export function chooseStreams({ wantsTail = true } = {}): Streams {
  const [out, error] = [statOf(1), statOf(2)];
  if (!wantsTail || error === undefined || isatty(2)) return inherited;
  if (error.isFile()) return fromFile(error.size);
  if (error.isFIFO() || error.isSocket()) return relayed(out !== undefined && isSame(out, error));
  return isNull(error) ? relayed(false) : inherited;
}

/** The command writes to the file itself; its end is read there. */
function fromFile(from: number): Streams {
  return { ...inherited, finish: () => Promise.resolve(endOfFile(from)) };
}

function relayed(joined: boolean): Streams {
  const fifo = makeFifo();
  if (fifo === undefined) return inherited;
  const tail = new Tail();
  const relay = new Relay(fifo, 2, tail);
  return {
    stdout: joined ? fifo.writer : 1,
    stderr: fifo.writer,
    started: () => closeSync(fifo.writer),
    finish: async () => {
      await relay.finish();
      return tail.text();
    },
  };
}

function endOfFile(from: number): string {
  try {
    const fd = openSync('/dev/fd/2', 'r');
    try {
      const { size } = fstatSync(fd);
      const begin = Math.max(from, size - tailBytes);
      const end = Buffer.alloc(Math.max(0, size - begin));
      const length = readSync(fd, end, 0, end.length, begin);
      return lastLines(end.subarray(0, length), begin > from);
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

function isSame(a: Stats, b: Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function isNull(stat: Stats): boolean {
  const device = statOf('/dev/null');
  return device !== undefined && stat.rdev === device.rdev;
}

function statOf(which: number | string): Stats | undefined {
  try {
    if (typeof which === 'number') return fstatSync(which);
    const fd = openSync(which, 'r');
    try {
      return fstatSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
