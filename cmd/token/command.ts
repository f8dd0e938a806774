import type { Readable, Writable } from 'node:stream';

/** The streams of a command: those of the process, or of a test. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Runs with the arguments that follow the command. Resolves with the exit code. */
export type Command = (args: string[], streams: Streams) => Promise<number>;
