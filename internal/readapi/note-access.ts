import type { Context } from 'koa';
import type { Answer, Endpoint } from './endpoint.ts';

/** Notes that a reader looks at the record of an organization, or exports it. */
export type NoteAccess = (access: {
  subject: string;
  name: string;
  organization: string;
  action: 'looked' | 'exported';
  address: string;
}) => void;

/** Notes each answered request of an endpoint, but none that is refused. */
export function noteReads(
  noteAccess: NoteAccess,
  { answer, exports }: Endpoint,
  addressOf: (ctx: Context) => string,
): Answer {
  return async (ctx, next) => {
    await answer(ctx, next);
    const { organization, tokenId } = ctx.state;
    if (ctx.status >= 400) return;
    const action = exports === true ? 'exported' : 'looked';
    noteAccess({
      subject: `token:${tokenId}`,
      name: `read token ${tokenId}`,
      organization,
      action,
      address: addressOf(ctx),
    });
  };
}
