import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Router } from '@koa/router';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';
import type { Bodies } from '../bodies/bodies.ts';

/** Takes a request and answers it. Never rejects or throws. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/**
 * Returns the bytes of a body, synchronously if Node has read them. Takes room while it waits for
 * more. Rejects with 413, 429 or 503, or with 400 for a broken connection.
 */
export type ReadBytes = (ctx: Context, bodies?: Bodies) => Buffer | Promise<Buffer>;

/**
 * The steps of a request that exist twice, with the same behaviour: `plainKoa` uses the libraries
 * as documented, `fastPath` saves their cost. `FAST_PATH` in `TUNING` selects one.
 */
export interface HttpStack {
  /** Runs the middleware of an application for each request. */
  handler: (app: Koa) => Handler;
  /** Selects the route of a request; passes to the next middleware if no route matches. */
  routes: (router: Router) => Middleware;
  /** Creates a reader for bodies of up to `limit` bytes and of these types (default: JSON). */
  bodyReader: (limit: number, types?: readonly string[]) => ReadBytes;
  /**
   * Answers with a JSON text, or its bytes, and with the headers `Receipt-Id` and
   * `Runledger-Ignored-Fields` if given.
   */
  sendJson: (ctx: Context, status: number, text: string | Buffer, receiptId?: string, ignoredFields?: string) => void;
  /** Answers with 200, a plain text and these headers. */
  sendText: (ctx: Context, text: string, headers: Readonly<Record<string, string>>) => void;
}
