import { RequestError } from '../kit/errors/request-error.ts';
import { onClosed } from '../intake/http/on-closed.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { TokenLimiter } from './token-limiter.ts';
import { answerWithRoom, type RoomOptions } from './with-room.ts';

export interface ReadLimits {
  /** Requests of one token a second, and under way at once. */
  rate: number;
  concurrency: number;
  /** Open streams of one token. */
  streams: number;
}

const details = {
  rate: 'The token has sent too many requests within a second.',
  concurrency: 'The token has too many requests under way: wait for their answers.',
  streams: 'The token has too many open streams.',
} as const;

/**
 * Returns a function that limits an endpoint per token: 429 beyond the limits. A request is under
 * way until its answer has been sent or its connection is closed. Streams and exports have their
 * own room in memory.
 */
export function limitTokens(limits: ReadLimits, options: RoomOptions): (endpoint: Endpoint) => Answer {
  const requests = new TokenLimiter(limits);
  // After a restart of a console, all streams of a token connect within a second.
  const streams = new TokenLimiter({ rate: limits.streams, concurrency: limits.streams });
  return ({ answer, limit, texts, exports }) =>
    async (ctx, next) => {
      const end = (limit === 'streams' ? streams : requests).take(ctx.state.tokenId);
      if (typeof end === 'string') {
        const reason = limit ?? end;
        options.readMetrics.reject(reason);
        throw new RequestError('too-many-requests', details[reason]);
      }
      onClosed(ctx.res, end);
      if (limit === 'streams' || exports === true) await answer(ctx, next);
      else await answerWithRoom(ctx, ctx.state.organization, options, texts, () => answer(ctx, next));
    };
}
