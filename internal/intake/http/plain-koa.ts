import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { bodyTooLarge, bodyUnreadable } from '../bodies/body-errors.ts';
import type { HttpStack, ReadBytes } from './http-stack.ts';
import { routesOf } from './koa-router-quirks.ts';

/** Serves requests with `app.callback()`, the routes of `@koa/router` and koa-bodyparser. */
export const plainKoa: HttpStack = {
  handler: (app) => app.callback(),
  routes: routesOf,
  bodyReader: collectBody,
  sendJson: (ctx, status, text, receiptId, ignoredFields) => {
    if (receiptId !== undefined) ctx.set('Receipt-Id', receiptId);
    if (ignoredFields !== undefined) ctx.set('Runledger-Ignored-Fields', ignoredFields);
    ctx.status = status;
    ctx.type = 'application/json';
    ctx.body = text;
  },
  sendText: (ctx, text, headers) => {
    ctx.set(headers);
    ctx.type = 'text/plain';
    ctx.body = text;
  },
};

/**
 * Creates a reader that collects bodies of these types with koa-bodyparser. The parser only
 * collects: on its own it would accept forms, inflate before it counts, and silently replace
 * invalid UTF-8.
 */
export function collectBody(limit: number, types: readonly string[] = ['application/json']): ReadBytes {
  const options: bodyParser.Options & { encoding: null } = {
    enableTypes: ['text'],
    extendTypes: { text: [...types] },
    textLimit: String(limit),
    // Missing from the parser's types: null selects bytes instead of text.
    encoding: null,
    onerror: (error) => {
      throw 'type' in error && error.type === 'entity.too.large' ? bodyTooLarge(limit) : bodyUnreadable();
    },
  };
  const collect = bodyParser(options);
  return async (ctx, bodies) => {
    // The parser knows this word only in lower case. Other encodings are read elsewhere.
    if (ctx.req.headers['content-encoding'] !== undefined) ctx.req.headers['content-encoding'] = 'identity';
    const length = Number(ctx.req.headers['content-length'] ?? limit);
    if (bodies?.isLarge(ctx) === false) bodies.take(ctx, length);
    // The parser pauses an oversized body. Drain the rest, or it blocks the next request on the
    // connection.
    await collect(ctx, nothing).finally(() => ctx.req.resume());
    return bytesOf(ctx);
  };
}

const nothing = (): Promise<void> => Promise.resolve();

/** The parser leaves `rawBody` undefined for a request without a body. */
function bytesOf(ctx: Context): Buffer {
  const bytes: unknown = ctx.request.rawBody;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
}
