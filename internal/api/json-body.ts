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

const jsonTypes: readonly string[] = ['application/json'];

/**
 * Creates a reader for JSON bodies of up to `limit` bytes. `readBytes` must enforce the limit for a
 * body without a length.
 */
export function createJsonReader(limit: number, readBytes: ReadBytes, types = jsonTypes): ReadJson {
  return async (ctx) => {
    requireType(ctx, types, limit);
    inviteBody(ctx);
    const bytes = readBytes(ctx);
    return parse(Buffer.isBuffer(bytes) ? bytes : await bytes);
  };
}

const jsonLines = 'application/x-ndjson';

/** The types of a body with several JSON values. */
export const listTypes = ['application/json', jsonLines] as const;

/** Resolves with the values of a body; a line that is not JSON gives a {@link SyntaxError}. */
export type ReadJsonList = (ctx: Context) => Promise<unknown[]>;

/**
 * Creates a reader for a JSON array, or for one JSON value a line (NDJSON), as {@link
 * createJsonReader}. Lines without a value are left out.
 */
export function createJsonListReader(limit: number, readBytes: ReadBytes): ReadJsonList {
  return async (ctx) => {
    requireType(ctx, listTypes, limit);
    inviteBody(ctx);
    const bytes = await readBytes(ctx);
    if (ctx.request.type.trim().toLowerCase() === jsonLines) return linesOf(textOf(bytes));
    const values = parse(bytes);
    if (!Array.isArray(values)) throw malformed('must be a JSON array');
    return values;
  };
}

function linesOf(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    try {
      return JSON.parse(line) as unknown;
    } catch (error) {
      return error;
    }
  });
}

/** @throws {RequestError} 415, or 413 when the length that the headers name is over `limit`. */
export function requireType(ctx: Context, types: readonly string[], limit: number): void {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = ctx.req.headers;
  if (type !== 'application/json' && !isOneOf(types, ctx)) {
    throw new RequestError('unsupported-media-type', `Content-Type must be ${types.join(' or ')}, in UTF-8.`);
  }
  if (encoding !== undefined) requireIdentity(ctx, encoding);
  if (Number(length) > limit) throw bodyTooLarge(limit);
}

function isOneOf(types: readonly string[], { request }: Context): boolean {
  const charset = request.charset.toLowerCase();
  return types.includes(request.type.trim().toLowerCase()) && ['', 'utf-8', 'utf8'].includes(charset);
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
export function inviteBody({ req, res }: Context): void {
  const { expect } = req.headers;
  if (expect !== undefined && req.httpVersion === '1.1' && /100-continue/i.test(expect)) res.writeContinue();
}

function textOf(body: Buffer): string {
  if (!isUtf8(body)) throw malformed('must be valid UTF-8');
  return body.toString();
}

function parse(body: Buffer): unknown {
  const text = textOf(body);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(body.length === 0 ? 'must not be empty' : 'must be valid JSON');
  }
}

/** Returns a 400 for a body that is no JSON document. */
export function malformed(detail: string): RequestError {
  return new RequestError('malformed-request', 'The body is not a JSON document; see errors.', [
    { pointer: '', detail },
  ]);
}
