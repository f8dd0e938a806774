import type { Context } from 'koa';
import { callerAddress } from '../intake/http/caller-address.ts';
import type { AuthenticatedState } from '../intake/http/authenticate.ts';
import type { Access } from '../login/access-log.ts';
import type { Act } from '../login/viewer.ts';
import type { Answer, Endpoint } from './endpoint.ts';

/** Notes what the holder of a token does with an organization. */
export type NoteAccess = (access: Access) => void;

/** The same for a request. */
export type NoteAct = (ctx: Context, action: Access['action'], detail?: string) => void;

/** Records an act before it is done. @throws {RequestError} if it cannot be recorded now. */
export type NoteFirst = (ctx: Context, act: Act, detail: string) => Promise<void>;

/** @param trustProxy whether a proxy names the caller's address. */
export function noteActs<Result>(noteAccess: (access: Access) => Result, trustProxy: boolean) {
  return (ctx: Context, action: Access['action'], detail?: string): Result => {
    const { organization, scope, tokenId } = ctx.state as AuthenticatedState;
    const subject = `token:${tokenId}`;
    const address = callerAddress(ctx, trustProxy);
    return noteAccess({ subject, name: `${scope} token ${tokenId}`, organization, action, detail, address });
  };
}

/** Notes each answered read of an endpoint, but none that is refused. Acts note themselves. */
export function noteReads(note: NoteAct, { answer, exports, method }: Endpoint): Answer {
  return async (ctx, next) => {
    await answer(ctx, next);
    if (method === undefined && ctx.status < 400) note(ctx, exports === true ? 'exported' : 'looked');
  };
}
