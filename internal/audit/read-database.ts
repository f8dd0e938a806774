import { leafSize, readLeaf, splitLeaves } from '../log/leaf.ts';
import type { StoredEvent } from '../log/stored-json.ts';
import { tileWidth } from '../log/tiles.ts';
import type { Tables } from '../store/database.ts';
import type { EventRow } from '../store/events-table.ts';
import { findLeaf } from '../store/find-leaf.ts';
import { sql, type Kysely } from '../store/sql.ts';
import { Erased } from './erased.ts';

/** One snapshot of the database. */
export type Reading = Kysely<Tables>;

/** Tiles and events of one query. */
const [tilesAtOnce, eventsAtOnce] = [64, 10_000];

/** All leaves of a log, in order. They end before the first that is missing. */
export async function* readLogLeaves(trx: Reading, organization: string): AsyncGenerator<Buffer> {
  let next = 0;
  for (;;) {
    const { rows } = await sql<{ index: string; content: Uint8Array }>`
      select index, content from log_tiles
      where organization = ${organization} and level = 0 and index >= ${next} order by index limit ${tilesAtOnce}
    `.execute(trx);
    for (const { index, content } of rows) {
      if (Number(index) !== next || content.length !== tileWidth * leafSize) return;
      yield Buffer.from(content);
      next += 1;
    }
    if (rows.length < tilesAtOnce) break;
  }
  let at = next * tileWidth;
  const { rows } = await sql<{ first_index: string; leaves: Uint8Array }>`
    select first_index, leaves from log_tails where organization = ${organization} order by first_index
  `.execute(trx);
  for (const { first_index, leaves } of rows) {
    if (Number(first_index) !== at || leaves.length % leafSize !== 0) return;
    yield Buffer.from(leaves);
    at += leaves.length / leafSize;
  }
}

/**
 * All events of an organization in the order of their ids, in pages. The last page is empty. While
 * a page is looked at, Postgres reads the next one: no other query may use the connection.
 */
export async function* readEvents(trx: Reading, organization: string): AsyncGenerator<StoredEvent[]> {
  let next = readPage(trx, organization, undefined);
  for (;;) {
    const events = await next;
    const last = events.at(-1);
    if (last !== undefined) {
      next = readPage(trx, organization, last);
      // The reader may have ended.
      next.catch(() => undefined);
    }
    yield events;
    if (last === undefined) return;
  }
}

function readPage(
  trx: Reading,
  organization: string,
  after: { created_at: Date; id: string } | undefined,
): Promise<EventRow[]> {
  let query = trx.selectFrom('events').selectAll().where('organization', '=', organization);
  if (after !== undefined) {
    query = query.where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id}::uuid)`);
  }
  return query.orderBy('created_at').orderBy('id').limit(eventsAtOnce).execute();
}

/** The erasures of an organization whose leaves are in its log, placed or waiting. */
export async function readErased(trx: Reading, organization: string): Promise<Erased> {
  const erased = new Erased();
  const rows = await trx
    .selectFrom('erasures')
    .selectAll()
    .where('organization', '=', organization)
    .orderBy('id')
    .execute();
  for (const row of rows) {
    await erased.add({ ...row, event_ids: Buffer.from(row.event_ids) }, async (id) => {
      const placed = await findLeaf(trx, organization, id);
      if (placed !== undefined) return placed.leaf;
      const { waiting } = await leavesBetween(trx, organization, undefined, undefined);
      return waiting.find((leaf) => readLeaf(leaf).id === id);
    });
  }
  return erased;
}

/**
 * The leaves of events with ids above `after`, up to `last`; all above without it. `waiting` are
 * those that the sealer has not placed yet.
 */
export async function leavesBetween(
  trx: Reading,
  organization: string,
  after: string | undefined,
  last: string | undefined,
): Promise<{ sealed: Buffer[]; waiting: Buffer[] }> {
  const sealed = await sql<{ leaves: Uint8Array }>`
    select content as leaves from log_tiles where organization = ${organization} and level = 0
      and last_id >= ${after ?? lowestId}::uuid and first_id <= ${last ?? highestId}::uuid
    union all select leaves from log_tails where organization = ${organization}
  `.execute(trx);
  const waiting = await sql<{ leaves: Uint8Array }>`
    select leaves from log_segments where organization = ${organization}
  `.execute(trx);
  const low = after === undefined ? Buffer.alloc(0) : idBytes(after);
  const high = idBytes(last ?? highestId);
  const within = (rows: readonly { leaves: Uint8Array }[]): Buffer[] =>
    rows
      .flatMap(({ leaves }) => splitLeaves(Buffer.from(leaves)))
      .filter((leaf) => {
        const id = leaf.subarray(1, 17);
        return id.compare(low) > 0 && id.compare(high) <= 0;
      });
  return { sealed: within(sealed.rows), waiting: within(waiting.rows) };
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function idBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
