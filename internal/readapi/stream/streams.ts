import type { ServerResponse } from 'node:http';
import type { Queries } from '../../record/queries.ts';
import type { StoredSince, StreamPosition } from '../../record/stream.ts';
import type { StreamMetrics } from './stream-metrics.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import { withNames } from '../automation-names.ts';
import { readBytes, type ReadRoom } from '../read-room.ts';
import { SharedRoom, type RoomSize } from '../shared-room.ts';
import { EventStream } from './event-stream.ts';
import { Feed } from './feed.ts';
import { HeldMessages } from './held-messages.ts';
import type { Message, StreamFormat } from './messages.ts';
import { StreamIds } from './stream-ids.ts';

/** Most memory of what waits for stream readers. */
const roomOfStreams: RoomSize = { all: 32 * 1_024 * 1_024, ofOne: 16 * 1_024 * 1_024 };

export interface StreamsOptions {
  record: Queries;
  /** Room for what a poll reads, until its messages are made. */
  room: ReadRoom;
  /** Reads the key of the ids. Rejects while it cannot be read. */
  key: () => Promise<Uint8Array>;
  /** Most events a second of one stream. */
  eventsPerSecond: number;
  metrics: StreamMetrics;
  logger: Logger;
  /** Interval of polls of an organization, and of ticks of a stream, in ms. */
  pollMs?: number;
  tickMs?: number;
}

/** Who reads a stream, and from where. */
export interface Reader {
  organization: string;
  ids: StreamIds;
  /** The last position that the reader has seen; undefined starts with the next stored event. */
  seen: StreamPosition | undefined;
  /** False once the token is no longer valid. */
  mayRead: () => boolean;
  /** The format of the reader's messages. Default: JSON. */
  format?: StreamFormat;
  /** Messages that precede everything that is stored from now on. */
  opening?: readonly Message[];
}

/** All open streams of a console: one feed for each organization. */
export class Streams {
  readonly name = 'streams';
  readonly #options: StreamsOptions;
  readonly #feeds = new Map<string, Feed>();
  readonly #held = new SharedRoom(roomOfStreams);
  readonly #open = new Map<EventStream, Reader>();
  #ticks: NodeJS.Timeout | undefined;
  #stopped = false;
  #ids: StreamIds | undefined;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** True once the console stops: it opens no more streams. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The ids of the messages. Rejects while their key cannot be read. */
  async ids(): Promise<StreamIds> {
    this.#ids ??= new StreamIds(await this.#options.key());
    return this.#ids;
  }

  start(): Promise<void> {
    this.#ticks = setInterval(() => this.#tick(), this.#options.tickMs ?? 15_000);
    return Promise.resolve();
  }

  /** Ends all streams. Their readers reconnect to another console. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#ticks);
    for (const stream of this.#open.keys()) stream.end();
    await Promise.all(Array.from(this.#feeds.values(), (feed) => feed.stop()));
  }

  /** Streams what is stored into a response, whose headers have been sent, until it is closed. */
  open(response: ServerResponse, reader: Reader): void {
    const { organization, seen } = reader;
    const feed = this.#feeds.get(organization) ?? this.#begin(reader);
    const stream = new EventStream(response, this.#options.metrics, feed.held, reader);
    this.#open.set(stream, reader);
    this.#options.metrics.open.set(this.#open.size);
    response.once('close', () => this.#close(stream, organization, feed));
    feed.add(stream, seen);
  }

  #begin({ organization, ids }: Reader): Feed {
    const { record, room, eventsPerSecond, logger, pollMs = 1_000 } = this.#options;
    const feed = new Feed({
      held: new HeldMessages(this.#held, organization),
      withRoom: (read) => room.run(organization, readBytes.texts, read),
      idOf: (position) => ids.of(position, organization),
      poll: async (since, limit) =>
        withNamesIn(record, organization, await record.pollStored(organization, since, limit)),
      limit: Math.max(1, Math.round((eventsPerSecond * pollMs) / 1_000)),
      intervalMs: pollMs,
      onError: (error) => logger.warn({ error }, 'streams cannot read the record'),
    });
    this.#feeds.set(organization, feed);
    return feed;
  }

  #close(stream: EventStream, organization: string, feed: Feed): void {
    this.#open.delete(stream);
    this.#options.metrics.open.set(this.#open.size);
    feed.remove(stream);
    stream.close();
    if (feed.size > 0 || this.#feeds.get(organization) !== feed) return;
    this.#feeds.delete(organization);
    void feed.stop();
  }

  #tick(): void {
    for (const [stream, { mayRead }] of this.#open) if (!mayRead()) stream.end();
    for (const feed of this.#feeds.values()) feed.tick();
  }
}

/** Adds the names of their automations to events and executions. */
async function withNamesIn(record: Queries, organization: string, stored: StoredSince): Promise<StoredSince> {
  const events = await withNames(
    record,
    organization,
    stored.events.map(({ event }) => event),
  );
  const names = new Map(events.map(({ automation, automation_name }) => [automation.toLowerCase(), automation_name]));
  return {
    ...stored,
    events: stored.events.map((streamed, index) => ({ ...streamed, event: events[index] ?? streamed.event })),
    executions: stored.executions.map((execution) => ({
      ...execution,
      automation_name: names.get(execution.automation) ?? null,
    })),
  };
}
