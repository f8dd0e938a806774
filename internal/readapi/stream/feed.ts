import { Repeating } from '../../kit/async/repeating.ts';
import type { StoredSince, StreamPosition } from '../../record/stream.ts';
import type { EventStream } from './event-stream.ts';
import type { HeldMessages } from './held-messages.ts';
import { idMessage, type IdOf, type Message, type StreamFormat } from './messages.ts';

export interface FeedOptions {
  held: HeldMessages;
  /** Runs reads once there is room for their results. Rejects when there is none in time. */
  withRoom: <T>(read: () => Promise<T>) => Promise<T>;
  idOf: IdOf;
  /** Reads at most `limit` events that were stored since a position. Rejects when it cannot. */
  poll: (since: StreamPosition | undefined, limit: number) => Promise<StoredSince>;
  /** Most events of one poll. */
  limit: number;
  intervalMs: number;
  onError: (error: unknown) => void;
}

/** Most polls' worth of events that a resuming reader gets: more than a console's restart takes. */
const resumedPolls = 10;

/**
 * What was stored, and how many events were left out. Streams of the same format share its
 * messages.
 */
class Batch {
  readonly omitted: number;
  readonly #parts: readonly StoredSince[];
  readonly #idOf: IdOf;
  readonly #messages = new Map<StreamFormat, Message[]>();

  constructor(parts: readonly StoredSince[], idOf: IdOf) {
    this.#parts = parts;
    this.#idOf = idOf;
    this.omitted = parts.reduce((sum, part) => sum + part.omitted, 0);
  }

  get isEmpty(): boolean {
    return this.omitted === 0 && this.#parts.every(({ events }) => events.length === 0);
  }

  sendTo(stream: EventStream): void {
    const known = this.#messages.get(stream.format);
    const messages = known ?? this.#parts.flatMap((part) => stream.format(part, this.#idOf));
    this.#messages.set(stream.format, messages);
    if (messages.length + this.omitted > 0) stream.send(messages, this.omitted);
  }
}

/** Polls the record for all open streams of one organization together. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #polls: Repeating;
  #position: StreamPosition | undefined;
  readonly #streams = new Set<EventStream>();
  /** Streams that wait for the next poll, with the last position that their readers have seen. */
  #joining = new Map<EventStream, StreamPosition | undefined>();
  /** Streams that are reading what they missed, and the batches that they get afterwards. */
  readonly #resuming = new Map<EventStream, Batch[]>();

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#polls = new Repeating(() => this.#repeat());
  }

  /** What its streams hold. */
  get held(): HeldMessages {
    return this.#options.held;
  }

  get size(): number {
    return this.#streams.size + this.#joining.size + this.#resuming.size;
  }

  /** Sends a stream what is stored from now on, or after the position that it has seen. */
  add(stream: EventStream, seen: StreamPosition | undefined): void {
    this.#polls.start();
    if (this.#position === undefined || seen !== undefined) this.#joining.set(stream, seen);
    else this.#begin(stream, this.#position);
  }

  remove(stream: EventStream): void {
    this.#streams.delete(stream);
    this.#joining.delete(stream);
    this.#resuming.delete(stream);
  }

  /** Keeps idle streams open. */
  tick(): void {
    if (this.#position === undefined) return;
    const id = this.#options.idOf(this.#position);
    for (const stream of this.#streams) stream.tick(id);
  }

  async stop(): Promise<void> {
    await this.#polls.stop();
  }

  /** Polls once, and returns the pause until the next poll, in ms. */
  async #repeat(): Promise<number> {
    const started = performance.now();
    await this.#pollOnce().catch(this.#options.onError);
    return Math.max(0, started + this.#options.intervalMs - performance.now());
  }

  async #pollOnce(): Promise<void> {
    const { poll, limit, idOf, withRoom } = this.#options;
    // A stream that joins during the poll may have seen more than the poll finds.
    const joining = [...this.#joining];
    const stored = await withRoom(() => poll(this.#position, limit));
    this.#position = stored.position;
    this.#send(new Batch([stored], idOf));
    const missed = new Map<string, Promise<Batch | undefined>>();
    for (const [stream, seen] of joining.filter(([stream]) => this.#joining.delete(stream))) {
      if (seen === undefined) this.#begin(stream, stored.position);
      else void this.#resume(stream, this.#missedOnce(missed, seen, stored.position), stored.position);
    }
  }

  #send(batch: Batch): void {
    if (batch.isEmpty) return;
    for (const stream of this.#streams) batch.sendTo(stream);
    for (const waiting of this.#resuming.values()) waiting.push(batch);
  }

  #begin(stream: EventStream, position: StreamPosition): void {
    stream.send([...stream.opening, idMessage(this.#options.idOf(position))], 0);
    this.#streams.add(stream);
  }

  async #resume(stream: EventStream, missed: Promise<Batch | undefined>, position: StreamPosition): Promise<void> {
    const meanwhile: Batch[] = [];
    this.#resuming.set(stream, meanwhile);
    const batch = await missed;
    if (!this.#resuming.delete(stream)) return;
    if (batch === undefined) stream.send([], null);
    else batch.sendTo(stream);
    this.#begin(stream, position);
    for (const later of meanwhile) later.sendTo(stream);
  }

  /** Lets streams that stopped at the same position read what they missed together. */
  #missedOnce(
    known: Map<string, Promise<Batch | undefined>>,
    seen: StreamPosition,
    until: StreamPosition,
  ): Promise<Batch | undefined> {
    const key = JSON.stringify(seen);
    const missed = known.get(key) ?? this.#missed(seen, until.since);
    known.set(key, missed);
    return missed;
  }

  /** Reads from a position to a snapshot; resolves with undefined when that fails. */
  async #missed(seen: StreamPosition, until: string): Promise<Batch | undefined> {
    const { poll, limit, idOf, onError, withRoom } = this.#options;
    try {
      return await withRoom(async () => {
        const rest = seen.until === undefined ? undefined : await poll(seen, resumedPolls * limit);
        const since = rest?.position ?? seen;
        const later = await poll({ ...since, until }, resumedPolls * limit);
        return new Batch([...(rest === undefined ? [] : [rest]), later], idOf);
      });
    } catch (error) {
      onError(error);
      return undefined;
    }
  }
}
