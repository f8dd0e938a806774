import type { Socket } from 'node:net';
import type { Context } from 'koa';
import type { AuthenticatedState } from '../http/authenticate.ts';
import { joinList } from '../../kit/join-list.ts';
import { bodyUnreadable } from './body-errors.ts';
import { BodyRoom } from './body-room.ts';
import { DroppedBodies } from '../http/dropped-bodies.ts';
import { runAtOnce, Turns, type TurnsOptions } from '../http/turns.ts';

/** A body of this many bytes or fewer is parsed at once. */
export const smallBody = 16_384;

/** A body of this many bytes or fewer is parsed in one step, which takes about 1 ms. */
export const oneStep = 65_536;

/** Bytes of a body that cost an organization as much of its rate as one event. */
const bytesOfEvent = 65_536;

/**
 * Bytes of pieces after which the young generation is collected, since they are outside V8's heap.
 * Needs Node's `--expose-gc`, which the image sets.
 */
const collectEvery = 8 * 1_024 * 1_024;

export interface BodiesOptions {
  /** Charges events to the rate of an organization. */
  charge: (organization: string, events: number) => void;
  /** As in {@link TurnsOptions}. */
  othersSend?: TurnsOptions['othersSend'];
}

/**
 * What the bodies of a pod share: room in memory, and the event loop. Large bodies are read and
 * parsed in turns; see {@link Turns}.
 */
export class Bodies {
  readonly #options: BodiesOptions;
  readonly #room = new BodyRoom();
  readonly #turns: Turns;
  readonly #dropped: DroppedBodies;
  /** By request: the bytes that it has room for, and the events charged to the organization. */
  readonly #taken = new WeakMap<Context, number>();
  readonly #charged = new WeakMap<Context, number>();
  /** By request: the bytes of its body. */
  readonly #bytes = new WeakMap<Context, Buffer>();
  /** Bytes read since the last collection. */
  #uncollected = 0;
  /** By connection: the end of its last large request, while that is under way. */
  readonly #last = new WeakMap<Socket, Promise<void>>();

  constructor(options: BodiesOptions) {
    this.#options = options;
    this.#turns = new Turns({ othersSend: options.othersSend });
    this.#dropped = new DroppedBodies(this.#turns, (bytes) => this.received(bytes));
  }

  /**
   * Takes room for a large body that states its length, before it is read. `most`: how many of its
   * bytes are held at once. To keep the order of arrival, waits until earlier large or encoded
   * bodies on the connection are answered.
   * @throws {RequestError} when there is no room.
   */
  admit(ctx: Context, most = Infinity, isEncoded = false): Promise<void> | undefined {
    const before = this.#last.get(ctx.req.socket);
    if (before !== undefined) return before.then(() => this.admit(ctx, most, isEncoded));
    if (isEncoded) this.#holdNext(ctx);
    return this.#admit(ctx, most);
  }

  #admit(ctx: Context, most: number): undefined {
    const { 'content-length': length } = ctx.req.headers;
    if (length === undefined || !(Number(length) > smallBody)) return;
    this.charge(ctx, Number(length));
    this.take(ctx, Math.min(Number(length), most));
  }

  /**
   * Takes room for a body, or for more of it, until its answer is sent.
   * @throws {RequestError} when there is none.
   */
  take(ctx: Context, bytes: number): void {
    if (ctx.res.closed) throw bodyUnreadable();
    const organization = organizationOf(ctx);
    const before = this.#taken.get(ctx);
    this.#room.take(organization, bytes);
    this.#taken.set(ctx, (before ?? 0) + bytes);
    if (before === undefined) {
      ctx.res.once('close', () => {
        this.#room.release(organization, this.#taken.get(ctx) ?? 0);
        this.free(ctx);
      });
    }
    if (this.isLarge(ctx) && !((before ?? 0) > smallBody)) this.#holdNext(ctx);
  }

  /** Makes the next request on the connection wait for the end of this one. */
  #holdNext({ req: { socket }, res }: Context): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(socket, promise);
    res.once('close', () => {
      if (this.#last.get(socket) === promise) this.#last.delete(socket);
      resolve();
    });
  }

  /**
   * Takes room for the next piece of a body that has not stated its length. `most`: as in {@link
   * admit}.
   * @throws {RequestError} when there is none.
   */
  grow(ctx: Context, length: number, most = Infinity): void {
    this.charge(ctx, length);
    const more = Math.min(length, most) - (this.#taken.get(ctx) ?? 0);
    if (more > 0) this.take(ctx, more);
  }

  /** Allocates memory for the bytes of a body, until {@link free} or the end of the request. */
  allocate(ctx: Context, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    this.#bytes.set(ctx, bytes);
    return bytes;
  }

  /** Frees the memory now; V8 would leave hundreds of megabytes to a later collection. */
  free(ctx: Context): void {
    (this.#bytes.get(ctx)?.buffer as ArrayBuffer | undefined)?.transfer(0);
    this.#bytes.delete(ctx);
  }

  /** Records that a piece of a large body was read, whose memory V8 counts too late. */
  received(bytes: number): void {
    this.#uncollected += bytes;
    if (this.#uncollected < collectEvery) return;
    this.#uncollected = 0;
    globalThis.gc?.({ type: 'minor' });
  }

  /** True for a body that is parsed in turns. */
  isLarge(ctx: Context): boolean {
    return (this.#taken.get(ctx) ?? 0) > smallBody;
  }

  /** Runs work on a body: in a turn of its organization if the body is large, otherwise at once. */
  run<T>(ctx: Context, work: () => T): T | Promise<T> {
    if (!this.isLarge(ctx)) return work();
    return this.#turns.run(organizationOf(ctx), work, (this.#taken.get(ctx) ?? 0) <= oneStep);
  }

  /** Runs short steps as {@link run} does, in as many turns as they need. */
  runAll<T>(ctx: Context, steps: Iterator<unknown, T>): T | Promise<T> {
    return this.isLarge(ctx) ? this.#turns.runAll(organizationOf(ctx), steps) : runAtOnce(steps);
  }

  /** Runs `map` for each item of a body, as {@link runAll} does. */
  map<A, B>(ctx: Context, items: readonly A[], map: (item: A, index: number) => B): B[] | Promise<B[]> {
    return this.isLarge(ctx) ? this.#turns.map(organizationOf(ctx), items, map) : items.map(map);
  }

  /** The JSON array of a body's items; as bytes for a large body, since it may be as large. */
  async jsonList<A>(ctx: Context, items: readonly A[], form: (item: A) => object): Promise<string | Buffer> {
    if (!this.isLarge(ctx)) return JSON.stringify(items.map(form));
    return joinList(await this.map(ctx, items, (item) => Buffer.from(JSON.stringify(form(item)))));
  }

  /** Charges the bytes of a body so far to the rate, even if it is later refused or cut. */
  charge(ctx: Context, bytes: number): void {
    const before = this.#charged.get(ctx) ?? 0;
    const events = Math.floor(bytes / bytesOfEvent) - before;
    if (events <= 0) return;
    this.#charged.set(ctx, before + events);
    this.#options.charge(organizationOf(ctx), events);
  }

  /** Drops the body of a refused request; see {@link DroppedBodies.drop}. */
  drop(ctx: Context): Promise<void> | undefined {
    return this.#dropped.drop(ctx, organizationOf(ctx));
  }

  /** Resolves in the next turn of the organization, so that dropped pieces wait for it too. */
  rest(ctx: Context): Promise<void> {
    return this.#turns.run(organizationOf(ctx), () => undefined);
  }
}

/** Empty for a request that is refused before its token is known. */
function organizationOf(ctx: Context): string {
  return (ctx.state as Partial<AuthenticatedState>).organization ?? '';
}
