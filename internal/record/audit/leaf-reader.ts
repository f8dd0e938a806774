import { leafSize } from '../../ledger/leaf.ts';
import { unpackTile } from '../../ledger/tiles.ts';
import { sql } from '../../store/sql.ts';
import type { Finding } from './finding.ts';
import { readWaiting, type Reading } from './read-database.ts';
import { highestId, idsOfTile, wholeLeaves } from './tile-ids.ts';

/** Tiles of one query. */
const tilesAtOnce = 64;

/** A tile of leaves, as it is stored. */
interface TileRow {
  index: string;
  content: Uint8Array;
  first_id: string | null;
  last_id: string | null;
}

/** A tile has other ids than its row says, so Postgres cannot sort the tiles. */
export class WrongTileIds extends Error {
  override readonly name = 'WrongTileIds';
}

/**
 * Gives each leaf of a log once, lowest ids first. Postgres sorts the tiles once, by their lowest
 * ids: searching the tiles of each page would read all of them each time.
 */
export class LeafReader {
  readonly #trx: Reading;
  readonly #organization: string;
  /** The tiles in the order of their lowest ids, once {@link sortTiles} has read them. */
  #order: readonly string[] | undefined;
  /** Leaves that were read but not given yet. */
  #ofTiles: Buffer[] = [];
  #ofTails: Buffer[] = [];
  #waiting: Buffer[] = [];
  /** The lowest id of the last tile read. */
  #reached: string | undefined;
  #hasMore = true;
  #read = 0;

  /** @param trx a transaction: it gets a cursor. */
  constructor(trx: Reading, organization: string) {
    this.#trx = trx;
    this.#organization = organization;
  }

  /** Sorts the tiles after reading each. Resolves with a finding for each wrong row. */
  async sortTiles(): Promise<Finding[]> {
    const findings: Finding[] = [];
    const tiles: { index: string; first: string }[] = [];
    for (let offset = 0; ; offset += tilesAtOnce) {
      const { rows } = await sql<TileRow>`
        select index, content, first_id, last_id from log_tiles
        where organization = ${this.#organization} and level = 0 order by index limit ${tilesAtOnce} offset ${offset}
      `.execute(this.#trx);
      for (const row of rows.map(unpacked)) {
        tiles.push({ index: row.index, first: idsOfTile(row.content).first });
        const sentence = `Tile ${row.index} of the log has other ids than its row says: the row was changed.`;
        if (!isRight(row)) findings.push({ sentence });
      }
      if (rows.length < tilesAtOnce) break;
    }
    this.#order = tiles.sort((a, b) => (a.first < b.first ? -1 : 1)).map(({ index }) => index);
    return findings;
  }

  /**
   * The leaves with ids up to `last` that were not given before; all remaining ones without it.
   * `waiting` are those that the sealer has not placed yet.
   * @throws {WrongTileIds} unless the tiles are sorted.
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
    this.#ofTails = rows.map(({ leaves }) => wholeLeaves(leaves));
    this.#waiting = await readWaiting(this.#trx, this.#organization);
    if (this.#order !== undefined) return;
    await sql`
      declare tiles cursor for select index, content, first_id, last_id from log_tiles
      where organization = ${this.#organization} and level = 0 order by first_id, index
    `.execute(this.#trx);
  }

  async #readTiles(): Promise<void> {
    const rows = this.#order === undefined ? await this.#fetch() : await this.#readInOrder(this.#order);
    for (const row of rows.map(unpacked)) {
      if (this.#order === undefined && !isRight(row)) throw new WrongTileIds(`tile ${row.index}`);
      this.#ofTiles.push(wholeLeaves(row.content));
      this.#reached = idsOfTile(row.content).first;
    }
    this.#hasMore = rows.length === tilesAtOnce;
  }

  async #fetch(): Promise<TileRow[]> {
    return (await sql<TileRow>`fetch ${sql.lit(tilesAtOnce)} from tiles`.execute(this.#trx)).rows;
  }

  async #readInOrder(order: readonly string[]): Promise<TileRow[]> {
    const places = order.slice(this.#read, this.#read + tilesAtOnce);
    this.#read += places.length;
    const { rows } = await sql<TileRow>`
      select index, content, first_id, last_id from log_tiles
      where organization = ${this.#organization} and level = 0 and index = any(${places}::bigint[])
      order by array_position(${places}::bigint[], index)
    `.execute(this.#trx);
    return rows;
  }
}

function unpacked(row: TileRow): TileRow {
  return { ...row, content: unpackTile(row.content) };
}

function isRight({ content, first_id, last_id }: TileRow): boolean {
  const { first, last } = idsOfTile(content);
  return first_id === first && last_id === last;
}

/** Splits leaves into those with ids up to `high` and those above: in runs, since few are mixed. */
function upTo(parts: readonly Buffer[], high: Buffer): { taken: Buffer[]; above: Buffer[] } {
  const taken: Buffer[] = [];
  const above: Buffer[] = [];
  for (const leaves of parts) {
    const isAbove = (at: number): boolean => leaves.compare(high, 0, high.length, at + 1, at + 1 + high.length) > 0;
    for (let begin = 0, end = 0; begin < leaves.length; begin = end) {
      const isRunAbove = isAbove(begin);
      for (end = begin + leafSize; end < leaves.length && isAbove(end) === isRunAbove; end += leafSize);
      (isRunAbove ? above : taken).push(leaves.subarray(begin, end));
    }
  }
  return { taken, above };
}
