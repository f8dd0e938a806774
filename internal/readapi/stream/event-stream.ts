import type { ServerResponse } from 'node:http';
import type { StreamMetrics } from './stream-metrics.ts';
import type { HeldMessages } from './held-messages.ts';
import { idMessage, messagesOf, omittedText, type Message, type StreamFormat } from './messages.ts';

/** Most messages, and characters, that wait for a slow reader if there is room. */
const mostMessages = 4_000;
const mostCharacters = 4 * 1024 * 1024;

/** Characters that one write has, unless a message is longer. */
const writeSize = 65_536;

/** Ticks without progress after which a reader counts as gone. */
const patience = 4;

/** One open stream: sends messages as fast as its reader takes them, and drops the oldest ones. */
export class EventStream {
  /** The messages that its reader gets. */
  readonly format: StreamFormat;
  /** What its reader gets first; everything stored afterwards follows. */
  readonly opening: readonly Message[];
  readonly #response: ServerResponse;
  readonly #metrics: StreamMetrics;
  readonly #held: HeldMessages;
  #queue: Message[] = [];
  #queued = 0;
  /** Events left out since the last message; null if their number is unknown. */
  #omitted: number | null = 0;
  #blocked = false;
  /** Bytes that its connection has not taken yet. */
  #sentBytes = 0;
  #blockedTicks = 0;

  constructor(
    response: ServerResponse,
    metrics: StreamMetrics,
    held: HeldMessages,
    { format = messagesOf, opening = [] }: { format?: StreamFormat; opening?: readonly Message[] },
  ) {
    this.format = format;
    this.opening = opening;
    this.#response = response;
    this.#metrics = metrics;
    this.#held = held;
    response.on('drain', () => {
      this.#blocked = false;
      this.#countSent(0);
      this.#blockedTicks = 0;
      this.#flush();
    });
  }

  /** Sends messages; `omitted` events before them were left out, null for an unknown number. */
  send(messages: readonly Message[], omitted: number | null): void {
    this.#omit(omitted);
    for (const message of messages) {
      if (!this.#held.hold(message)) {
        // Later messages must not precede those that are left out.
        this.#drop(this.#queue.length);
        this.#omit(message.events);
        continue;
      }
      this.#queue.push(message);
      this.#queued += message.text.length;
    }
    this.#dropOldest();
    this.#flush();
  }

  /** Keeps an idle stream open, and lets its reader resume from `id`. */
  tick(id: string): void {
    if (!this.#blocked) {
      this.#flush();
      // A reader resumes after the id: nothing before it may still wait.
      if (this.#queue.length === 0) this.#write(idMessage(id).text);
    } else if ((this.#blockedTicks += 1) >= patience) this.#response.destroy();
  }

  /** Ends the answer, so that the reader reconnects. */
  end(): void {
    this.#response.end();
  }

  /** Releases what it holds, once it is closed. */
  close(): void {
    for (const message of this.#queue) this.#held.release(message);
    this.#queue = [];
    this.#countSent(0);
  }

  #omit(count: number | null): void {
    this.#omitted = count === null || this.#omitted === null ? null : this.#omitted + count;
    this.#metrics.omitted.inc(count ?? 0);
  }

  #dropOldest(): void {
    let dropped = 0;
    let queued = this.#queued;
    while (this.#queue.length - dropped > mostMessages || (queued > mostCharacters && dropped < this.#queue.length)) {
      queued -= this.#queue[dropped]?.text.length ?? 0;
      dropped += 1;
    }
    this.#drop(dropped);
  }

  /** Leaves out the oldest messages. */
  #drop(count: number): void {
    for (const message of this.#queue.splice(0, count)) {
      this.#queued -= message.text.length;
      this.#held.release(message);
      this.#omit(message.events);
    }
  }

  #flush(): void {
    if (!this.#blocked && this.#omitted !== 0) {
      this.#write(omittedText(this.#omitted));
      this.#omitted = 0;
    }
    // Without room it waits for the next messages or the next tick.
    while (!this.#blocked && this.#queue.length > 0 && this.#held.fits(writeSize)) this.#write(this.#take());
  }

  /** Takes the messages of one write from the queue. */
  #take(): string {
    let text = '';
    let taken = 0;
    let events = 0;
    while (taken < this.#queue.length && (taken === 0 || text.length < writeSize)) {
      text += this.#queue[taken]?.text ?? '';
      events += this.#queue[taken]?.events ?? 0;
      taken += 1;
    }
    for (const message of this.#queue.splice(0, taken)) this.#held.release(message);
    this.#queued -= text.length;
    this.#metrics.events.inc(events);
    return text;
  }

  #write(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    this.#blocked = !this.#response.write(text);
    this.#countSent(this.#response.writableLength);
  }

  #countSent(bytes: number): void {
    this.#held.addSent(bytes - this.#sentBytes);
    this.#sentBytes = bytes;
  }
}
