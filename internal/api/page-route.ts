import type { Context } from 'koa';

export type { Context } from 'koa';

/** A route of web pages, served beside the read API. It authenticates its requests itself. */
export interface PageRoute {
  /**
   * A pattern of the router without a trailing slash, such as `/o/:organization`; requests may
   * have the slash.
   */
  readonly path: string;
  readonly methods: readonly ('GET' | 'HEAD' | 'POST')[];
  readonly answer: (ctx: Context) => Promise<void> | void;
}

/** Answers with a page for an error, if the request asked for a page; returns true if it did. */
export type ShowError = (ctx: Context, error: unknown) => boolean;
