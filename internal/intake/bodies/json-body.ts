import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';
import { oneStep, type Bodies } from './bodies.ts';
import { bodyTooLarge, malformed } from './body-errors.ts';
import { inviteBody, readPieces } from './body-pieces.ts';
import type { ReadBytes } from '../http/http-stack.ts';
import { bodyFault, bytesFault, textFault } from './body-fault.ts';
import { textWithoutMark, withoutMark } from './byte-order-mark.ts';
import { encodedLimit, encodingOf, type Encoding } from './content-encoding.ts';
import { newline, scanArray, scanLines, type Range } from './json-scan.ts';

const jsonLines = 'application/x-ndjson';

/** The content types of a body with several JSON values. */
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

/** What a route does with the values of a list, each before the next is parsed. */
export interface ListUse<T> {
  /** Throws unless this many values are allowed; `count` is undefined if the body is no list. */
  requireCount: (count: number | undefined) => void;
  /** A line that is not JSON comes as a {@link RequestError}. */
  each: (value: unknown, index: number) => T;
}

/**
 * Reads JSON bodies. Each value is used when it is parsed, and not kept: in memory it may take
 * twenty times its bytes. Rejects with 415, 413, 429 or 503 before the read, and with 400, 413, 429
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
    const read = withoutMark(Buffer.isBuffer(found) ? found : await found);
    if (!bodies.isLarge(ctx)) return use(parseJson(read));
    await bodies.runAll(ctx, scanArray(read));
    const used = await bodies.run(ctx, () => use(parseJson(read)));
    bodies.free(ctx);
    return used;
  }

  /** Resolves with what `each` returns for the values of a JSON array, or of NDJSON lines. */
  async readList<T>(ctx: Context, use: ListUse<T>): Promise<T[]> {
    const { bodies } = this.#options;
    const bytes = withoutMark(await this.#bytesOf(ctx));
    const fault = bytesFault(bytes);
    if (fault !== undefined) throw malformed(fault);
    const isLines = ctx.request.type.trim().toLowerCase() === jsonLines;
    if (!isLines && bytes.length <= oneStep) return bodies.run(ctx, () => useAll(parseJson(bytes), use));
    const found = await bodies.runAll(ctx, isLines ? scanLines(bytes) : scanArray(bytes));
    // Not a list, or not JSON; the parser tells which.
    if (found === undefined) return bodies.run(ctx, () => useAll(parseJson(bytes), use));
    use.requireCount(found.length);
    const parseOne = isLines ? lineParser(bytes) : (range: Range) => parseElement(bytes, range);
    const used = await bodies.map(ctx, found, (range, index) => use.each(parseOne(range), index));
    bodies.free(ctx);
    return used;
  }

  /** Synchronous where possible. */
  #bytesOf(ctx: Context): Buffer | Promise<Buffer> {
    const { types, limit, bodies } = this.#options;
    const encoding = requireType(ctx, types, limit);
    const admitted = bodies.admit(ctx, Infinity, encoding !== undefined);
    if (encoding !== undefined) return this.#decodedBytes(ctx, encoding, admitted);
    return admitted === undefined ? this.#invitedBytes(ctx) : admitted.then(() => this.#invitedBytes(ctx));
  }

  #invitedBytes(ctx: Context): Buffer | Promise<Buffer> {
    inviteBody(ctx);
    return this.#options.readBytes(ctx, this.#options.bodies);
  }

  async #decodedBytes(ctx: Context, encoding: Encoding, admitted: Promise<void> | undefined): Promise<Buffer> {
    const { limit, bodies } = this.#options;
    await admitted;
    const pieces: Buffer[] = [];
    let length = 0;
    await readPieces(ctx, { bodies, encoding, limit }, (piece) => {
      length += piece.length;
      bodies.grow(ctx, length);
      pieces.push(piece);
    });
    return Buffer.concat(pieces);
  }
}

function useAll<T>(values: unknown, { requireCount, each }: ListUse<T>): T[] {
  const list = Array.isArray(values) ? (values as unknown[]) : undefined;
  requireCount(list?.length);
  return list?.map(each) ?? [];
}

function parseElement(bytes: Buffer, [from, to]: Range): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', from, to));
  } catch {
    throw malformed(bodyFault(bytes));
  }
}

/** Parses lines in their order. */
function lineParser(bytes: Buffer): (range: Range) => unknown {
  const lineAt = lineCounter(bytes);
  return ([from, to]) => {
    // A body may be joined from several files, each with a byte order mark.
    const line = textWithoutMark(bytes.toString('utf8', from, to));
    try {
      return JSON.parse(line);
    } catch {
      return malformed(textFault(line, { line: lineAt(from), column: 1 }));
    }
  };
}

/**
 * The number of the line that starts at a byte, counted from 1, for places in their order: it
 * counts on from the last one.
 */
function lineCounter(bytes: Buffer): (from: number) => number {
  let [line, counted] = [1, 0];
  return (from) => {
    for (; counted < from; counted += 1) if (bytes[counted] === newline) line += 1;
    return line;
  };
}

/**
 * Returns the encoding of a body; undefined if it is sent as it is.
 * @throws {RequestError} 415, or 413 if the stated length is over `limit`.
 */
export function requireType(ctx: Context, types: readonly string[], limit: number): Encoding | undefined {
  const { 'content-type': type, 'content-length': length } = ctx.req.headers;
  if (type !== 'application/json' && !isOneOf(types, ctx)) {
    throw new RequestError('unsupported-media-type', `Content-Type must be ${types.join(' or ')}, in UTF-8.`);
  }
  const encoding = encodingOf(ctx.req.headers);
  if (Number(length) > (encoding === undefined ? limit : encodedLimit(limit))) throw bodyTooLarge(limit);
  return encoding;
}

function isOneOf(types: readonly string[], { request }: Context): boolean {
  const [type, charset] = [request.type.trim().toLowerCase(), request.charset.toLowerCase()];
  const isKnown = types.includes(type) || (types.includes('*/*+json') && type.endsWith('+json'));
  return isKnown && ['', 'utf-8', 'utf8'].includes(charset);
}

/** @throws {RequestError} that says where the body is not JSON. */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw malformed(bodyFault(body));
  try {
    return JSON.parse(body.toString());
  } catch {
    throw malformed(bodyFault(body));
  }
}
