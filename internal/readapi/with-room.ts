import type { ServerResponse } from 'node:http';
import type { ConsoleMetrics } from '../kit/telemetry/console-metrics.ts';
import { onClosed } from '../intake/http/on-closed.ts';
import { readBytes, type ReadRoom } from './read-room.ts';

/** The part of Koa's context that is needed here. */
interface Answered {
  res: ServerResponse;
  body: unknown;
}

/** What reads share beside Postgres. */
export interface RoomOptions {
  room: ReadRoom;
  readMetrics: Pick<ConsoleMetrics, 'reject'>;
}

/**
 * Makes an answer once there is room for it, which it takes until it has been sent. `texts` is true
 * for one with texts of events.
 * @throws {RequestError} when there is none in time.
 */
export async function answerWithRoom(
  ctx: Answered,
  organization: string,
  { room, readMetrics }: RoomOptions,
  texts: boolean | undefined,
  answer: () => unknown,
): Promise<void> {
  const part = await room
    .enter(organization, texts === true ? readBytes.texts : readBytes.others)
    .catch((error: unknown) => {
      readMetrics.reject('memory');
      throw error;
    });
  onClosed(ctx.res, () => part.end());
  try {
    if (!ctx.res.closed) await answer();
    // As bytes: Koa would hold a text until Node has made them.
    if (typeof ctx.body === 'string') ctx.body = Buffer.from(ctx.body);
    part.resize(Buffer.isBuffer(ctx.body) ? ctx.body.length : 0);
  } catch (error) {
    part.end();
    throw error;
  }
}
