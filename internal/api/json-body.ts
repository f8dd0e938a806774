import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import { RequestError } from '../errors/request-error.ts';
import { oneStep, type Bodies } from './bodies.ts';
import { bodyTooLarge } from './body-errors.ts';
import type { ReadBytes } from './http-stack.ts';
import { scanArray, scanLines } from './json-scan.ts';

const jsonLines = 'application/x-ndjson';

/** The types of a body with several JSON values. */
export const listTypes = ['application/json', jsonLines] as const;

/** How the bodies of a route are read. */
export interface JsonBodyOptions {
  /** Largest body, in bytes. */
  limit: number;
  /** Enforces the limit for a body without a length. */
  readBytes: ReadBytes;
  types: readonly string[];
  bodies: Bodies;
}

/** What a route does with the values of a list, before the next one is parsed. */
export interface ListUse<T> {
  /** Throws unless there may be so many; undefined if the body is no list. */
  requireCount: (count: number | undefined) => void;
  /** A line that is not JSON is a {@link SyntaxError}. */
  each: (value: unknown, index: number) => T;
}

/**
 * Reads JSON bodies. Values are used when they are parsed, and not kept: in memory they may take
 * twenty times their bytes. Rejects with 415, 413, 429 or 503 before the read, with 400, 413, 429
 * or 503 after it.
 */
export class JsonBody {
  readonly #options: JsonBodyOptions;

  constructor(options: JsonBodyOptions) {
    this.#options = options;
  }

  /** Resolves with what `use` returns for the value of a body. */
  async read<T>(ctx: Context, use: (value: unknown) => T): Promise<T> {
    const { bodies } = this.#options;
    const found = this.#bytesOf(ctx);
    const read = Buffer.isBuffer(found) ? found : await found;
    if (!bodies.isLarge(ctx)) return use(parse(read));
    await bodies.runAll(ctx, scanArray(read));
    const used = await bodies.run(ctx, () => use(parse(read)));
    bodies.free(ctx);
    return used;
  }

  /** Resolves with what `each` returns for the values of a JSON array, or of NDJSON lines. */
  async readList<T>(ctx: Context, use: ListUse<T>): Promise<T[]> {
    const { bodies } = this.#options;
    const bytes = await this.#bytesOf(ctx);
    requireUtf8(bytes);
    const isLines = ctx.request.type.trim().toLowerCase() === jsonLines;
    if (!isLines && bytes.length <= oneStep) return bodies.run(ctx, () => useAll(parse(bytes), use));
    const found = await bodies.runAll(ctx, isLines ? scanLines(bytes) : scanArray(bytes));
    // No list, or no JSON: the parser says which.
    if (found === undefined) return bodies.run(ctx, () => useAll(parse(bytes), use));
    use.requireCount(found.length);
    const parseOne = isLines ? parseLine : parseElement;
    const used = await bodies.map(ctx, found, ([from, to], index) => {
      return use.each(parseOne(bytes.toString('utf8', from, to)), index);
    });
    bodies.free(ctx);
    return used;
  }

  /** At once where that is possible. */
  #bytesOf(ctx: Context): Buffer | Promise<Buffer> {
    const { types, limit, bodies } = this.#options;
    requireType(ctx, types, limit);
    const admitted = bodies.admit(ctx);
    return admitted === undefined ? this.#invitedBytes(ctx) : admitted.then(() => this.#invitedBytes(ctx));
  }

  #invitedBytes(ctx: Context): Buffer | Promise<Buffer> {
    inviteBody(ctx);
    return this.#options.readBytes(ctx, this.#options.bodies);
  }
}

function useAll<T>(values: unknown, { requireCount, each }: ListUse<T>): T[] {
  const list = Array.isArray(values) ? (values as unknown[]) : undefined;
  requireCount(list?.length);
  return list?.map(each) ?? [];
}

function parseElement(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('must be valid JSON');
  }
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
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

function requireUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw malformed('must be valid UTF-8');
}

function parse(body: Buffer): unknown {
  requireUtf8(body);
  try {
    return JSON.parse(body.toString());
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
