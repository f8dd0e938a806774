import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import { RequestError } from '../errors/request-error.ts';
import { bodyTooLarge } from './body-errors.ts';
import type { ReadBytes } from './http-stack.ts';

/**
 * Resolves with the JSON value of a body. Rejects with 415 or 413 before the read, with 400 or 413
 * after it.
 */
export type ReadJson = (ctx: Context) => Promise<unknown>;

/**
 * Creates a reader for JSON bodies of up to `limit` bytes. `readBytes` must enforce the limit for a
 * body without a length.
 */
export function createJsonReader(limit: number, readBytes: ReadBytes): ReadJson {
  return async (ctx) => {
    requireJson(ctx, limit);
    inviteBody(ctx);
    const bytes = readBytes(ctx);
    return parse(Buffer.isBuffer(bytes) ? bytes : await bytes);
  };
}

function requireJson(ctx: Context, limit: number): void {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = ctx.req.headers;
  if (type !== 'application/json' && !isJson(ctx)) {
    throw new RequestError('unsupported-media-type', 'Content-Type must be application/json, in UTF-8.');
  }
  if (encoding !== undefined) requireIdentity(ctx, encoding);
  if (Number(length) > limit) throw bodyTooLarge(limit);
}

function isJson({ request }: Context): boolean {
  const charset = request.charset.toLowerCase();
  return request.type.trim().toLowerCase() === 'application/json' && ['', 'utf-8', 'utf8'].includes(charset);
}

function requireIdentity({ req }: Context, encoding: string): void {
  if (!['', 'identity'].includes(encoding.trim().toLowerCase())) {
    throw new RequestError('unsupported-media-type', 'Content-Encoding is not supported: send the body as it is.');
  }
  // koa-bodyparser accepts this word in lower case only.
  req.headers['content-encoding'] = 'identity';
}

/**
 * Answers `Expect: 100-continue`, which .NET sends with each POST. A client that got an error need
 * not send the body.
 */
function inviteBody({ req, res }: Context): void {
  const { expect } = req.headers;
  if (expect !== undefined && req.httpVersion === '1.1' && /100-continue/i.test(expect)) res.writeContinue();
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) throw malformed('must be valid UTF-8');
  try {
    return JSON.parse(body.toString());
  } catch {
    throw malformed(body.length === 0 ? 'must not be empty' : 'must be valid JSON');
  }
}

function malformed(detail: string): RequestError {
  return new RequestError('malformed-request', 'The body is not a JSON document; see errors.', [
    { pointer: '', detail },
  ]);
}
