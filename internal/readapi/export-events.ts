import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { RequestError } from '../kit/errors/request-error.ts';
import type { EventEncoder, ExportFormat } from '../record/formats/format.ts';
import { exportFormats, formatNames, type FormatName } from '../record/formats/formats.ts';
import type { Page } from '../record/page.ts';
import type { EventPosition, StoredEvent } from '../record/stored-event.ts';
import type { ConsoleMetrics } from '../record/console-metrics.ts';
import type { Endpoint } from './endpoint.ts';
import { Fault } from './fault.ts';
import { namedFilters, namedFiltersOf } from './filters.ts';
import { kindFilter } from './list-events.ts';
import { oneOf, recordedTime, uuid, type Parameter } from './parameters.ts';
import { malformedQuery, readQuery, type Values } from './query.ts';
import type { ReadOptions } from './read-options.ts';
import { readBytes, ReadRoom, type Part } from './read-room.ts';
import type { RoomOptions } from './with-room.ts';
import type { StreamOptions } from './stream.ts';

/** Events of one query. */
const pageSize = 500;

/**
 * Pages after which an export collects garbage, in about 20 ms. This keeps the process below 150
 * MB; left alone, V8 lets it grow from 100 to 210 MB. Needs Node's option `--expose-gc`, which the
 * image sets.
 */
const pagesPerCollection = 50;

/** Bytes of one write. */
const writeSize = 65_536;

/** Most memory that exports hold when their format cannot write each page at once. */
const roomOfEncoders = { all: 48 * 1_024 * 1_024, ofOne: 32 * 1_024 * 1_024 };

type EventPage = Page<StoredEvent, EventPosition>;

/** The place of an event: its `created_at` and its `id`, with a comma between. */
const place: Parameter<EventPosition> = (text) => {
  const [createdAt, id, ...more] = text.split(',');
  const values = { createdAt: recordedTime(createdAt ?? ''), id: uuid(id ?? '') };
  if (more.length === 0 && typeof values.createdAt === 'string' && typeof values.id === 'string')
    return values as EventPosition;
  return new Fault('must be created_at and id of an event, with a comma between');
};

const parameters = {
  format: oneOf(formatNames),
  after: place,
  bom: oneOf(['true', 'false']),
  ...kindFilter,
  ...namedFilters,
} as const;

export interface ExportOptions extends ReadOptions, Pick<StreamOptions, 'mayStillRead'>, Pick<RoomOptions, 'room'> {
  readMetrics: ConsoleMetrics;
}

/**
 * `GET /v1/export/events`: all events, oldest first, as fast as the reader takes them. After a
 * broken connection the reader continues with `after` and gets the rest of the same bytes; in
 * Parquet, a new file with the later events. The export breaks off once the token is no longer
 * valid.
 */
export function exportEvents({ record, readMetrics, mayStillRead, room }: ExportOptions): Endpoint {
  const encoders = new ReadRoom(roomOfEncoders);
  return {
    path: '/v1/export/events/',
    exports: true,
    answer: async (ctx) => {
      const { after, format, bom, kind, ...common } = readQuery(ctx, parameters);
      const { organization } = ctx.state;
      const filters = { ...(await namedFiltersOf(record, organization, common)), kind };
      const chosen = formatOf(ctx, format);
      const { type, heldBytes, begin } = chosen;
      if (bom === 'true' && chosen !== exportFormats.csv)
        throw malformedQuery([{ parameter: 'bom', detail: 'needs the format csv' }]);
      ctx.status = 200;
      ctx.set({ 'Content-Type': type, 'Cache-Control': 'no-store', Vary: 'Accept' });
      if (ctx.method === 'HEAD') return;
      const onClose = closesOf(ctx.res);
      if (heldBytes !== undefined) {
        const kept = await encoders.enter(organization, heldBytes);
        onClose(() => kept.end());
      }
      const pages = record.exportEvents(organization, filters, { limit: pageSize, after });
      ctx.body = await bytesOf(pages, {
        enter: (withinMs) => room.enter(organization, readBytes.texts, withinMs),
        encoder: begin(after !== undefined, bom === 'true'),
        onClose,
        onSent: (events) => readMetrics.exportedRows.inc(events),
        isGone: () => ctx.res.destroyed,
        mayRead: () => mayStillRead(ctx),
      });
      // The first matching event may be far away.
      ctx.flushHeaders();
    },
  };
}

/** Calls functions once a response is closed, which may already be the case. */
function closesOf(response: ServerResponse): BytesOptions['onClose'] {
  const ends: (() => void)[] = [];
  response.once('close', () => {
    for (const end of ends) end();
  });
  return (end) => {
    if (response.closed) end();
    else ends.push(end);
  };
}

/** The format by the parameter, or else by the header Accept. */
function formatOf(ctx: Context, format: Values<typeof parameters>['format']): ExportFormat {
  if (format !== undefined) return exportFormats[format];
  const accepted = ctx.accepts(formatNames.map((name) => mediaType(name)));
  return exportFormats[formatNames.find((name) => mediaType(name) === accepted) ?? 'ndjson'];
}

function mediaType(name: FormatName): string {
  return exportFormats[name].type.replace(/;.*/, '');
}

interface BytesOptions {
  /** Takes room for a page until its bytes are sent. Only the first page has a time limit. */
  enter: (withinMs?: number) => Promise<Part>;
  encoder: EventEncoder;
  onClose: (end: () => void) => void;
  onSent: (events: number) => void;
  /** True once the connection is closed. A stream notices that only when it has bytes to send. */
  isGone: () => boolean;
  /** False once the token is no longer valid. */
  mayRead: () => boolean;
}

/** Reads the first page before it resolves, so that an error still becomes an answer. */
async function bytesOf(pages: AsyncIterable<EventPage>, options: BytesOptions): Promise<Readable> {
  const { encoder, enter, onClose, onSent, isGone, mayRead } = options;
  const iterator = pages[Symbol.asyncIterator]();
  let part = await enter();
  // A stream that was never read ends without its `finally`.
  onClose(() => part.end());
  let page = await iterator.next();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      for (let number = 1; page.done !== true; number += 1) {
        const { items } = page.value;
        const events = items.length;
        const piece = Buffer.from(encoder.add(items));
        // The promise of the page keeps its items until a full garbage collection.
        items.length = 0;
        part.resize(piece.length);
        // Copied, since chunks that wait for the reader would keep the whole piece in memory.
        for (let at = 0; at < piece.length; at += writeSize) yield Buffer.copyBytesFrom(piece, at, writeSize);
        part.end();
        onSent(events);
        if (number % pagesPerCollection === 0) globalThis.gc?.({ type: 'major', execution: 'sync' });
        if (isGone()) return;
        // Without an error the reader would consider the export complete.
        if (!mayRead()) throw new RequestError('unauthorized', 'The token is no longer valid.');
        part = await enter(Infinity);
        if (isGone()) return;
        page = await iterator.next();
      }
      const rest = Buffer.from(encoder.end());
      if (rest.length > 0) yield rest;
    } finally {
      part.end();
      await iterator.return?.();
    }
  }
  return Readable.from(bytes(), { objectMode: false, highWaterMark: writeSize });
}
