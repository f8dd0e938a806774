import { spawn } from 'node:child_process';
import { closeSync, readSync, write } from 'node:fs';
import { Socket } from 'node:net';
import type { Fifo } from './fifo.ts';
import type { Tail } from './tail.ts';

/** From so many bytes that the sink has not taken yet, reading pauses: the command waits too. */
const mostWaiting = 64 * 1_024;

/** After the end of the command, so many bytes are read before they are passed on. */
const mostAfterEnd = 1_024 * 1_024;

/** Pause when the sink takes nothing now and does not block either, in ms. */
const retryPause = 5;

/**
 * Passes on what comes out of a pipe to a file descriptor, at once and unchanged, and keeps its
 * end.
 */
export class Relay {
  readonly #fifo: Fifo;
  readonly #sink: number;
  readonly #tail: Tail;
  readonly #input: Socket;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing = false;
  #atEnd = false;
  #broken = false;
  #finishing = false;
  #closed = false;
  #onIdle: () => void = () => undefined;

  constructor(fifo: Fifo, sink: number, tail: Tail) {
    this.#fifo = fifo;
    this.#sink = sink;
    this.#tail = tail;
    this.#input = new Socket({ fd: fifo.reader, readable: true, writable: false });
    this.#input.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#input.on('end', () => (this.#atEnd = true));
    this.#input.on('error', () => (this.#atEnd = true));
  }

  /**
   * Call it when the command has ended. Resolves when the sink has all that it wrote. If another
   * process still has the pipe, `cat` takes over from this one.
   */
  async finish(): Promise<void> {
    this.#finishing = true;
    while (this.#readRest()) await this.#drained();
    if (!this.#atEnd && !this.#broken) this.#handOver();
    this.#close();
  }

  #take(chunk: Buffer): void {
    this.#tail.add(chunk);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= mostWaiting) this.#input.pause();
    this.#write();
  }

  /** Takes what this process has read, and what the pipe holds. True if that was anything. */
  #readRest(): boolean {
    if (this.#broken) return false;
    this.#input.pause();
    // Each read is an event 'data' as well.
    while (this.#input.read() !== null);
    while (!this.#atEnd && this.#waitingBytes < mostAfterEnd && this.#readDirectly());
    return this.#waitingBytes > 0;
  }

  /** False when the pipe holds nothing now, or never again. */
  #readDirectly(): boolean {
    const chunk = Buffer.allocUnsafe(mostWaiting);
    try {
      const length = readSync(this.#fifo.reader, chunk);
      if (length === 0) this.#atEnd = true;
      else this.#take(chunk.subarray(0, length));
      return length > 0;
    } catch {
      return false;
    }
  }

  #write(): void {
    if (this.#writing) return;
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#onIdle();
      return;
    }
    this.#writing = true;
    write(this.#sink, first, (error, written) => {
      this.#writing = false;
      if (error === null) this.#wrote(first, written);
      else if (error.code === 'EAGAIN') setTimeout(() => this.#write(), retryPause);
      else this.#breakOff();
    });
  }

  #wrote(chunk: Buffer, written: number): void {
    this.#waitingBytes -= written;
    if (written < chunk.length) this.#waiting[0] = chunk.subarray(written);
    else this.#waiting.shift();
    if (this.#waitingBytes < mostWaiting && !this.#finishing) this.#input.resume();
    this.#write();
  }

  /** Nobody reads the sink: the command gets SIGPIPE at its next write, as without this process. */
  #breakOff(): void {
    this.#broken = true;
    this.#waiting.length = 0;
    this.#close();
    this.#onIdle();
  }

  async #drained(): Promise<void> {
    if (this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #handOver(): void {
    const stdio = [this.#fifo.blockingReader, this.#sink, 'ignore'] as const;
    const cat = spawn('cat', [], { stdio: [...stdio], detached: true, env: { PATH: '/usr/bin:/bin' } });
    cat.on('error', () => undefined);
    cat.unref();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.destroy();
    closeSync(this.#fifo.blockingReader);
  }
}
