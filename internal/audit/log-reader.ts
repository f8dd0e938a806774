import { leafSize } from '../log/leaf.ts';
import { sql } from '../store/sql.ts';
import { readWaiting, type Reading } from './read-database.ts';

/** Tiles of one query. */
const tilesAtOnce = 64;

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Gives each leaf of a log once, those with the lowest ids first. Postgres sorts the tiles by their
 * lowest ids, once. To look for the tiles of each page would read all of them each time.
 */
export class LogReader {
  readonly #trx: Reading;
  readonly #organization: string;
  /** Leaves that were read and not given yet. */
  #ofTiles: Buffer[] = [];
  #ofTails: Buffer[] = [];
  #waiting: Buffer[] = [];
  /** The lowest id of the last tile that was read. */
  #reached: string | undefined;
  #hasMore = true;

  /** @param trx a transaction: it gets a cursor. */
  constructor(trx: Reading, organization: string) {
    this.#trx = trx;
    this.#organization = organization;
  }

  /**
   * The leaves with ids up to `last` that were not given before; all others without it. `waiting`
   * are those that the sealer has not placed yet.
   */
  async take(last = highestId): Promise<{ sealed: Buffer; waiting: Buffer }> {
    if (this.#reached === undefined) await this.#open();
    while (this.#hasMore && (this.#reached ?? '') <= last) await this.#readTiles();
    const high = Buffer.from(last.replaceAll('-', ''), 'hex');
    const [tiles, tails, waiting] = [upTo(this.#ofTiles, high), upTo(this.#ofTails, high), upTo(this.#waiting, high)];
    [this.#ofTiles, this.#ofTails, this.#waiting] = [tiles.above, tails.above, waiting.above];
    return { sealed: Buffer.concat([...tiles.taken, ...tails.taken]), waiting: Buffer.concat(waiting.taken) };
  }

  async #open(): Promise<void> {
    this.#reached = '';
    const { rows } = await sql<{ leaves: Uint8Array }>`
      select leaves from log_tails where organization = ${this.#organization} order by first_index
    `.execute(this.#trx);
    this.#ofTails = rows.map(({ leaves }) => Buffer.from(leaves));
    this.#waiting = await readWaiting(this.#trx, this.#organization);
    await sql`
      declare tiles cursor for select content, first_id from log_tiles
      where organization = ${this.#organization} and level = 0 order by first_id, index
    `.execute(this.#trx);
  }

  async #readTiles(): Promise<void> {
    const { rows } = await sql<{ content: Uint8Array; first_id: string | null }>`
      fetch ${sql.lit(tilesAtOnce)} from tiles
    `.execute(this.#trx);
    for (const { content, first_id: id } of rows) {
      this.#ofTiles.push(Buffer.from(content));
      this.#reached = id ?? highestId;
    }
    this.#hasMore = rows.length === tilesAtOnce;
  }
}

/** Parts leaves into those with ids up to `high` and those above: in runs, since few are mixed. */
function upTo(parts: readonly Buffer[], high: Buffer): { taken: Buffer[]; above: Buffer[] } {
  const taken: Buffer[] = [];
  const above: Buffer[] = [];
  for (const leaves of parts) {
    if (leaves.length % leafSize !== 0) throw new Error(`${leaves.length} bytes are no whole leaves`);
    const isAbove = (at: number): boolean => leaves.compare(high, 0, high.length, at + 1, at + 1 + high.length) > 0;
    for (let begin = 0, end = 0; begin < leaves.length; begin = end) {
      const isRunAbove = isAbove(begin);
      for (end = begin + leafSize; end < leaves.length && isAbove(end) === isRunAbove; end += leafSize);
      (isRunAbove ? above : taken).push(leaves.subarray(begin, end));
    }
  }
  return { taken, above };
}
