import type { Context } from 'koa';

export type { Context } from 'koa';

/** A route of web pages, served beside the read API. It authenticates its requests itself. */
export interface PageRoute {
  /**
   * A router pattern without a trailing slash, such as `/o/:organization`; requests may have the
   * slash.
   */
  readonly path: string;
  /**
   * A GET without HEAD has an effect. The router still accepts HEAD for it: see {@link
   * unlessPreview}.
   */
  readonly methods: readonly ('GET' | 'HEAD' | 'POST')[];
  readonly answer: (ctx: Context) => Promise<void> | void;
}

/**
 * Answers a GET that has an effect, such as a login, unless the request is a preview: the HEAD of a
 * mail scanner, or a browser's prefetch.
 */
export function unlessPreview(answer: PageRoute['answer']): PageRoute['answer'] {
  return (ctx) => {
    const isEarly = /\bprefetch\b/i.test(ctx.get('Sec-Purpose') || ctx.get('Purpose'));
    if (ctx.method !== 'HEAD' && !isEarly) return answer(ctx);
    // A browser would later show an early 200 as the page.
    ctx.status = isEarly ? 503 : 200;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = '';
    return undefined;
  };
}

/** Answers an error with a page if the request asked for one; returns true if it did. */
export type ShowError = (ctx: Context, error: unknown) => boolean;
