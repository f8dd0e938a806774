import type { ServerResponse } from 'node:http';
import type { StreamMetrics } from '../../../telemetry/console-metrics.ts';
import { idMessage, messagesOf, omittedText, type Message, type StreamFormat } from './messages.ts';

/** Most messages, and most characters of them, that wait for a slow reader. */
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
  /** What its reader gets first: everything stored afterwards follows. */
  readonly opening: readonly Message[];
  readonly #response: ServerResponse;
  readonly #metrics: StreamMetrics;
  #queue: Message[] = [];
  #queued = 0;
  /** Events left out since the last message; null if their number is unknown. */
  #omitted: number | null = 0;
  #blocked = false;
  #blockedTicks = 0;

  constructor(
    response: ServerResponse,
    metrics: StreamMetrics,
    { format = messagesOf, opening = [] }: { format?: StreamFormat; opening?: readonly Message[] },
  ) {
    this.format = format;
    this.opening = opening;
    this.#response = response;
    this.#metrics = metrics;
    response.on('drain', () => {
      this.#blocked = false;
      this.#blockedTicks = 0;
      this.#flush();
    });
  }

  /** Sends messages; `omitted` events before them were left out, null for an unknown number. */
  send(messages: readonly Message[], omitted: number | null): void {
    this.#omit(omitted);
    for (const message of messages) {
      this.#queue.push(message);
      this.#queued += message.text.length;
    }
    this.#dropOldest();
    this.#flush();
  }

  /** Keeps an idle stream open, and lets its reader resume from `id`. */
  tick(id: string): void {
    if (!this.#blocked) this.#write(idMessage(id).text);
    else if ((this.#blockedTicks += 1) >= patience) this.#response.destroy();
  }

  /** Ends the answer, so that the reader connects again. */
  end(): void {
    this.#response.end();
  }

  #omit(count: number | null): void {
    this.#omitted = count === null || this.#omitted === null ? null : this.#omitted + count;
    this.#metrics.omitted.inc(count ?? 0);
  }

  #dropOldest(): void {
    let dropped = 0;
    let events = 0;
    while (
      this.#queue.length - dropped > mostMessages ||
      (this.#queued > mostCharacters && dropped < this.#queue.length)
    ) {
      this.#queued -= this.#queue[dropped]?.text.length ?? 0;
      events += this.#queue[dropped]?.events ?? 0;
      dropped += 1;
    }
    if (dropped === 0) return;
    this.#queue = this.#queue.slice(dropped);
    this.#omit(events);
  }

  #flush(): void {
    if (!this.#blocked && this.#omitted !== 0) {
      this.#write(omittedText(this.#omitted));
      this.#omitted = 0;
    }
    while (!this.#blocked && this.#queue.length > 0) this.#write(this.#take());
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
    this.#queue = this.#queue.slice(taken);
    this.#queued -= text.length;
    this.#metrics.events.inc(events);
    return text;
  }

  #write(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    this.#blocked = !this.#response.write(text);
  }
}
