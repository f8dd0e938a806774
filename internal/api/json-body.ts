import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { RequestError } from '../errors/request-error.ts';
import { WholeBodyRequest } from './fast-path/whole-body-request.ts';

/** Resolves with the body of a request. Rejects with a refusal: 415 or 413 before it is read, 400 or 413 after. */
export type ReadBody = (ctx: Context) => Promise<unknown>;

/**
 * Reads a JSON body of up to `limit` bytes. The parser only collects the bytes of bodies that do not say how many there
 * will be: what they must be is checked here, because it would inflate before it counts, take forms, and replace invalid
 * UTF-8 silently.
 */
export function createJsonBodyReader(limit: number): ReadBody {
  const collect = bodyParser(collectBytes(limit));
  return async (ctx) => {
    requireJson(ctx, limit);
    inviteBody(ctx);
    const { 'content-length': length } = ctx.req.headers;
    if (length === undefined) {
      // What a body too large has left over would stand before the next request: the parser leaves it paused.
      await collect(ctx, nothing).finally(() => ctx.req.resume());
      return parse(ctx.request.rawBody);
    }
    const size = Number(length);
    return parse(wholeBody(ctx.req, size) ?? (await bytesOf(ctx.req, size)));
  };
}

const nothing = (): Promise<void> => Promise.resolve();

/** Missing in the parser's types: `encoding: null` makes it hand over the bytes as they came. */
function collectBytes(limit: number): bodyParser.Options & { encoding: null } {
  return {
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    textLimit: String(limit),
    encoding: null,
    onerror: (error) => {
      throw bodyRefusal(error, limit);
    },
  };
}

function requireJson(ctx: Context, limit: number): void {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = ctx.req.headers;
  if (type !== 'application/json' && !isJson(ctx)) {
    throw new RequestError('unsupported-media-type', 'Content-Type must be application/json, in UTF-8.');
  }
  if (encoding !== undefined && !['', 'identity'].includes(encoding.trim().toLowerCase())) {
    throw new RequestError('unsupported-media-type', 'Content-Encoding is not supported: send the body as it is.');
  }
  if (Number(length) > limit) throw tooLarge(limit);
}

function isJson({ request }: Context): boolean {
  const charset = request.charset.toLowerCase();
  return request.type.trim().toLowerCase() === 'application/json' && ['', 'utf-8', 'utf8'].includes(charset);
}

/** Answers `Expect: 100-continue`, as .NET sends it with each POST: whoever is refused before need not send the body. */
function inviteBody({ req, res }: Context): void {
  const { expect } = req.headers;
  if (expect !== undefined && req.httpVersion === '1.1' && /100-continue/i.test(expect)) res.writeContinue();
}

/**
 * A body that says its length needs no parser: Node reads so many bytes and no more (test/bench/README.md). They have nearly
 * always come with the head of the request, and are taken at once: what was sent first is accepted first. Undefined when
 * they have not.
 */
function wholeBody(request: IncomingMessage, length: number): Buffer | undefined {
  const body = request instanceof WholeBodyRequest ? request.takeBody() : undefined;
  if (body !== undefined || request.readableLength !== length) return body;
  return (request.read() as Buffer | null) ?? Buffer.alloc(0);
}

/** The bytes of a body as they come. */
function bytesOf(request: IncomingMessage, length: number): Promise<Buffer> {
  if (request.destroyed) return Promise.reject(unreadable());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let missing = length;
    request.on('data', (chunk: Buffer) => {
      missing -= chunk.length;
      chunks.push(chunk);
      if (missing === 0) resolve(Buffer.concat(chunks));
    });
    request.on('error', () => reject(unreadable()));
  });
}

function bodyRefusal(error: Error, limit: number): RequestError {
  const type = 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return tooLarge(limit);
  return unreadable();
}

function unreadable(): RequestError {
  return new RequestError('malformed-request', 'The body could not be read to its end.');
}

function tooLarge(limit: number): RequestError {
  return new RequestError('payload-too-large', `The body must not be larger than ${limit} bytes.`);
}

function parse(bytes: unknown): unknown {
  const body = Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
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
