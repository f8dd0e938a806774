import type { ServerResponse } from 'node:http';
import type { ConsoleMetrics } from '../record/console-metrics.ts';
import { onClosed } from '../intake/http/on-closed.ts';
import { readBytes, type ReadRoom } from './read-room.ts';

/** The part of Koa's context that is needed here. */
interface Answered {
  res: ServerResponse;
  body: unknown;
}

/** What reads share besides Postgres. */
export interface RoomOptions {
  room: ReadRoom;
  readMetrics: Pick<ConsoleMetrics, 'reject'>;
}

/**
 * Makes an answer once there is room for it, and holds the room until it has been sent. `texts` is
 * true for an answer with texts of events.
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
    // As bytes, since Koa would hold a text until Node has encoded it.
    if (typeof ctx.body === 'string') ctx.body = Buffer.from(ctx.body);
    part.resize(Buffer.isBuffer(ctx.body) ? ctx.body.length : 0);
  } catch (error) {
    part.end();
    throw error;
  }
}
