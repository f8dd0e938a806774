import { getManyValues, none } from 'stream-chain/core';
import { jsonParser, type Token, type TokenSource } from 'stream-json/core/parser.js';
import { heldTextBytes, tooMuchHeld } from '../../event/held-bytes.ts';
import { malformed } from './body-errors.ts';

/** The part of a JSON document to keep: a text, some fields of an object, or a list. */
export type Shape = number | Fields | List;

/** A number keeps that many UTF-16 units of a text. A list keeps one element more than `most`. */
export interface Fields {
  readonly [field: string]: Shape;
}
type List = readonly [element: Shape, most: number];

/** What was kept. `null` is null; any other value that does not fit its shape is `true`. */
export type Projected = { [field: string]: Projected } | Projected[] | string | true | null;

/** Deepest nesting of a document. */
const maxDepth = 1_000;

/** Estimate of the bytes that an object or array takes in memory. */
const objectBytes = 100;

/** Longer keys match no field of a shape. */
const longestKey = 100;

/** An open object or array. Without `into`, nothing in it is kept. */
interface Level {
  shape?: Fields | List;
  into?: { [field: string]: Projected } | Projected[];
  key: string;
}

/**
 * Reads a JSON document in pieces and keeps the part described by a shape. Its memory does not grow
 * with the rest of the document. As in `JSON.parse`, the last of several equal keys counts.
 */
export class JsonProjection {
  /** The part that was kept, after `end`. */
  value: Projected = true;
  readonly #shape: Shape;
  readonly #parse = jsonParser({ packValues: false });
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #levels: Level[] = [];
  readonly #mostHeld: number;
  #held = 0;
  /** The key or text being read, and how much of it to keep. */
  #text = '';
  #longest = 0;

  /** @param mostHeld how many bytes the kept part may take in memory. */
  constructor(shape: Shape, mostHeld: number) {
    this.#shape = shape;
    this.#mostHeld = mostHeld;
  }

  /**
   * @throws {Error} when the document is not JSON in UTF-8, is nested too deeply, or the kept part
   * takes too much memory.
   */
  write(piece: Uint8Array): void {
    this.#takeAll(this.#parse(this.#decoder.decode(piece, { stream: true })));
  }

  /** @throws {Error} as {@link write} does, and when the document is incomplete. */
  end(): void {
    this.#takeAll(this.#parse(this.#decoder.decode()));
    // The parser's type lacks `none`, which ends its input.
    this.#takeAll(this.#parse(none as unknown as string));
  }

  #takeAll(tokens: ReturnType<TokenSource>): void {
    if (tokens !== none) for (const token of getManyValues(tokens)) this.#take(token);
  }

  #take(token: Token): void {
    switch (token.name) {
      case 'startKey':
        return this.#startText(this.#levels.at(-1)?.into === undefined ? 0 : longestKey);
      case 'startString':
        return this.#startText(Number(this.#wanted()) || 0);
      case 'stringChunk':
        if (this.#text.length < this.#longest) this.#text += token.value;
        return undefined;
      case 'endKey':
        return this.#setKey();
      case 'endString':
        return this.#put(typeof this.#wanted() === 'number' ? this.#keptText() : true);
      case 'startObject':
      case 'startArray':
        return this.#open(token.name === 'startArray');
      case 'endObject':
      case 'endArray':
        return void this.#levels.pop();
      case 'nullValue':
        return this.#put(null);
      case 'trueValue':
      case 'falseValue':
      case 'endNumber':
        return this.#put(true);
      // Numbers are kept as `true`. The other tokens do not occur with these options.
      case 'startNumber':
      case 'numberChunk':
      case 'numberValue':
      case 'keyValue':
      case 'stringValue':
      case 'whitespace':
        return undefined;
    }
  }

  #startText(longest: number): void {
    this.#text = '';
    this.#longest = longest;
  }

  #keptText(): string {
    const text = this.#text.slice(0, this.#longest);
    this.#hold(heldTextBytes(text));
    return text;
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    if (this.#held > this.#mostHeld) throw tooMuchHeld();
  }

  #setKey(): void {
    const level = this.#levels.at(-1);
    if (level !== undefined) level.key = this.#text;
  }

  #open(isArray: boolean): void {
    if (this.#levels.length === maxDepth) throw malformed(`must not be nested deeper than ${maxDepth} levels`);
    const shape = this.#wanted();
    if (typeof shape === 'object' && Array.isArray(shape) === isArray) {
      this.#hold(objectBytes);
      const into = isArray ? [] : {};
      this.#put(into);
      this.#levels.push({ shape, into, key: '' });
    } else {
      this.#put(true);
      this.#levels.push({ key: '' });
    }
  }

  /** The shape of the next value; undefined if it is not kept. */
  #wanted(): Shape | undefined {
    const level = this.#levels.at(-1);
    if (level === undefined) return this.#shape;
    const { shape, key } = level;
    if (shape === undefined) return undefined;
    if (isList(shape)) return shape[0];
    return Object.hasOwn(shape, key) ? shape[key] : undefined;
  }

  #put(value: Projected): void {
    const level = this.#levels.at(-1);
    if (level === undefined) this.value = value;
    else if (Array.isArray(level.into)) this.#push(level.into, value, level.shape);
    else if (level.into !== undefined && this.#wanted() !== undefined) level.into[level.key] = value;
  }

  #push(into: Projected[], value: Projected, shape: Level['shape']): void {
    if (shape !== undefined && isList(shape) && into.length <= shape[1]) into.push(value);
  }
}

function isList(shape: Fields | List): shape is List {
  return Array.isArray(shape);
}
