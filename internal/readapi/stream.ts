import type { Context, ParameterizedContext } from 'koa';
import { RequestError, unavailable } from '../kit/errors/request-error.ts';
import type { ConsoleMetrics } from '../record/console-metrics.ts';
import type { StreamPosition } from '../record/stream.ts';
import type { AuthenticatedState } from '../intake/http/authenticate.ts';
import type { Endpoint } from './endpoint.ts';
import { readQuery } from './query.ts';
import type { StreamIds } from './stream/stream-ids.ts';
import type { Reader, Streams } from './stream/streams.ts';

export interface StreamOptions {
  streams: Streams;
  readMetrics: ConsoleMetrics;
  /** True while a request would still get the access that it was granted. */
  mayStillRead: (ctx: ParameterizedContext<AuthenticatedState>) => boolean;
}

/** `GET /v1/stream/`: events and changes of executions as they are stored (Server-Sent Events). */
export function stream({ streams, readMetrics, mayStillRead }: StreamOptions): Endpoint {
  return {
    path: '/v1/stream/',
    limit: 'streams',
    answer: async (ctx) => {
      readQuery(ctx, {});
      const { organization } = ctx.state;
      await openStream(ctx, { streams, readMetrics }, { organization, mayRead: () => mayStillRead(ctx) });
    },
  };
}

/**
 * Answers with a stream that continues after `Last-Event-ID`.
 * @throws {RequestError} for a wrong id, while the console stops, and if the key of the ids is
 * missing.
 */
export async function openStream(
  ctx: Context,
  { streams, readMetrics }: Pick<StreamOptions, 'streams' | 'readMetrics'>,
  reader: Omit<Reader, 'ids' | 'seen'>,
): Promise<void> {
  const ids = await streams.ids();
  const seen = lastSeen(ctx, ids, reader.organization);
  if (streams.stopped) {
    readMetrics.reject('stopping');
    throw unavailable('This console is stopping: connect again.');
  }
  // The reader may be gone by now, and then nothing would end its stream.
  if (ctx.res.closed) return;
  ctx.status = 200;
  // Proxies must not buffer the messages.
  ctx.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  if (ctx.method === 'HEAD') {
    ctx.body = '';
    return;
  }
  ctx.respond = false;
  ctx.flushHeaders();
  ctx.res.write(`retry: ${retryMs()}\n\n`);
  streams.open(ctx.res, { ...reader, ids, seen });
}

/** @throws {RequestError} when `Last-Event-ID` is not an id of the organization's streams. */
function lastSeen(ctx: Context, ids: StreamIds, organization: string): StreamPosition | undefined {
  const given = ctx.get('Last-Event-ID');
  if (given === '') return undefined;
  const position = ids.positionOf(given, organization);
  if (position !== undefined) return position;
  const fault = { header: 'Last-Event-ID', detail: 'is not an id of a message of this stream' };
  throw new RequestError('malformed-request', 'The header Last-Event-ID is malformed; see errors.', [fault]);
}

/** Readers of a stopping console reconnect within 1 to 3 seconds, not all at once. */
function retryMs(): number {
  return Math.round(1_000 + Math.random() * 2_000);
}
