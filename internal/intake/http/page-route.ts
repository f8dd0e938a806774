import type { Context } from 'koa';

export type { Context } from 'koa';

/** A route of web pages, served beside the read API. It authenticates its requests itself. */
export interface PageRoute {
  /**
   * A pattern of the router without a trailing slash, such as `/o/:organization`; requests may
   * have the slash.
   */
  readonly path: string;
  /**
   * A GET without HEAD has an effect. The router takes HEAD for it all the same: see
   * {@link unlessPreview}.
   */
  readonly methods: readonly ('GET' | 'HEAD' | 'POST')[];
  readonly answer: (ctx: Context) => Promise<void> | void;
}

/**
 * Answers a GET that has an effect, such as a login. Nothing happens for who only wants to see what
 * is there: HEAD, as scanners of mail send it, and browsers that load a page before it is opened.
 */
export function unlessPreview(answer: PageRoute['answer']): PageRoute['answer'] {
  return (ctx) => {
    const isEarly = /\bprefetch\b/i.test(ctx.get('Sec-Purpose') || ctx.get('Purpose'));
    if (ctx.method !== 'HEAD' && !isEarly) return answer(ctx);
    // A browser would show an early 200 later, as the page.
    ctx.status = isEarly ? 503 : 200;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = '';
    return undefined;
  };
}

/** Answers with a page for an error, if the request asked for a page; returns true if it did. */
export type ShowError = (ctx: Context, error: unknown) => boolean;
