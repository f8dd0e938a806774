import type { Act } from '../../ledger/act.ts';
import { isLeaf, leafSize, readLeaf, splitLeaves, timeOfId, timeOfLeaf } from '../../ledger/leaf.ts';
import { tileSizes, tileWidth, unpackTile } from '../../ledger/tiles.ts';
import type { Tables } from '../../store/database.ts';
import { findLeaf } from '../../store/ledger/find-leaf.ts';
import { sql, type Kysely } from '../../store/sql.ts';
import { digestOfRow } from '../../store/acts/act-mac.ts';
import { digestOfLetter, type LetterRow } from '../../store/dead-letters.ts';
import { Erased } from './erased.ts';
import { wholeLeaves } from './tile-ids.ts';
import { Acts } from './acts.ts';
import type { Finding } from './finding.ts';

/** One snapshot of the database. */
export type Reading = Kysely<Tables>;

/** Tiles of one query. */
const tilesAtOnce = 64;

/** What the sealer keeps of a log beside its leaves. */
export interface LogRow {
  readonly size: string;
  readonly frontier: Uint8Array;
  /** The contents of the tiles above level 0, level by level. */
  readonly hashes: Uint8Array;
  /** True if the sealer did not write this row, so that it neither extends nor signs the log. */
  readonly refused: boolean;
}

/** Undefined when there is no log. */
export async function readLog(trx: Reading, organization: string): Promise<LogRow | undefined> {
  const { rows } = await sql<LogRow>`
    select size, frontier, refused, coalesce((
      select string_agg(content, ''::bytea order by level, index) from log_tiles
      where organization = ${organization} and level > 0
    ), '') as hashes
    from log_trees where organization = ${organization}
  `.execute(trx);
  return rows[0];
}

/** All leaves of a log in order, up to the first missing one. */
export async function* readLogLeaves(trx: Reading, organization: string): AsyncGenerator<Buffer> {
  let next = 0;
  for (;;) {
    const { rows } = await sql<{ index: string; content: Uint8Array }>`
      select index, content from log_tiles
      where organization = ${organization} and level = 0 and index >= ${next} order by index limit ${tilesAtOnce}
    `.execute(trx);
    for (const { index, content } of rows) {
      const leaves = unpackTile(content);
      if (Number(index) !== next || leaves.length !== tileWidth * leafSize) return;
      yield leaves;
      next += 1;
    }
    if (rows.length < tilesAtOnce) break;
  }
  let at = next * tileWidth;
  const { rows } = await sql<{ first_index: string; leaves: Uint8Array }>`
    select first_index, leaves from log_tails where organization = ${organization} order by first_index
  `.execute(trx);
  for (const { first_index, leaves } of rows) {
    if (Number(first_index) !== at) return;
    const whole = wholeLeaves(leaves);
    yield whole;
    if (whole.length < leaves.length) return;
    at += whole.length / leafSize;
  }
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
    await erased.add({ ...row, event_ids: Buffer.from(row.event_ids) }, (id) => findAnyLeaf(trx, organization, id));
  }
  return erased;
}

/** The acts of an organization, and whether their leaves are in its log, placed or waiting. */
export async function readActs(trx: Reading, organization: string): Promise<Acts> {
  const acts = new Acts();
  const { rows } = await sql<{ id: string; act: string }>`
    select id, act from log_acts where organization = ${organization} order by id
  `.execute(trx);
  for (const { id, act } of rows) acts.add(id, act, await findAnyLeaf(trx, organization, id));
  return acts;
}

async function findAnyLeaf(trx: Reading, organization: string, id: string): Promise<Buffer | undefined> {
  const placed = await findLeaf(trx, organization, id);
  if (placed !== undefined) return placed.leaf;
  const waiting = await readWaiting(trx, organization);
  const leaves = waiting.flatMap((segment) => splitLeaves(segment));
  return leaves.find((leaf) => isLeaf(leaf) && readLeaf(leaf).id === id);
}

/**
 * The lowest time in the ids of a log's leaves, in ms since the Unix epoch; Infinity without one.
 * Trusts the rows of the tiles: the comparison finds a wrong one.
 */
export async function timeOfOldestLeaf(trx: Reading, organization: string): Promise<number> {
  const { rows } = await sql<{ first_id: string | null }>`
    select first_id from log_tiles where organization = ${organization} and level = 0 order by first_id limit 1
  `.execute(trx);
  const tails = await sql<{ leaves: Uint8Array }>`
    select leaves from log_tails where organization = ${organization}
  `.execute(trx);
  const waiting = await readWaiting(trx, organization);
  const others = [...tails.rows.map(({ leaves }) => wholeLeaves(leaves)), ...waiting].flatMap(splitLeaves);
  const id = rows[0]?.first_id ?? null;
  return [...others.map(timeOfLeaf), id === null ? Infinity : timeOfId(id)].reduce((a, b) => Math.min(a, b), Infinity);
}

/** The findings about leaves that the sealer refused because no worker made their MAC. */
export async function readRefused(trx: Reading, organization: string): Promise<Finding[]> {
  const { rows } = await sql<{ leaves: Uint8Array }>`
    select leaves from log_segments where organization = ${organization} and refused order by id
  `.execute(trx);
  const leaves = rows.flatMap((row) => splitLeaves(wholeLeaves(row.leaves))).filter(isLeaf);
  return leaves.map(readLeaf).map(({ id, kind }) => ({
    sentence: `The leaf of ${kind} ${id} waits with a MAC that no worker made: it was added.`,
  }));
}

/** The whole leaves that the sealer has not placed yet. */
export async function readWaiting(trx: Reading, organization: string): Promise<Buffer[]> {
  const { rows } = await sql<{ leaves: Uint8Array }>`
    select leaves from log_segments where organization = ${organization} and not refused order by id
  `.execute(trx);
  return rows.map(({ leaves }) => wholeLeaves(leaves));
}

/** The findings about rows whose leaves were cut or lengthened. */
export async function readFragments(trx: Reading, organization: string): Promise<Finding[]> {
  const { rows } = await sql<{ kept: string }>`
    select 'log_segments, where leaves wait for their place' as kept from log_segments
    where organization = ${organization} and octet_length(leaves) % ${sql.lit(leafSize)} > 0
    union select 'log_tails' from log_tails
    where organization = ${organization} and octet_length(leaves) % ${sql.lit(leafSize)} > 0
    union select 'log_tiles' from log_tiles
    where organization = ${organization} and level = 0 and octet_length(content) not in (${sql.join(tileSizes.map((size) => sql.lit(size)))})
  `.execute(trx);
  return rows.map(({ kept }) => ({ sentence: `A row of ${kept} has no whole leaves: it was changed.` }));
}

/**
 * The findings about dead letters that acts know: those that were changed, or are gone without an
 * act or a way back.
 */
export async function lostLetters(trx: Reading, organization: string, acts: readonly Act[]): Promise<Finding[]> {
  const named = (kind: Act['kind'], detail: string): string[] =>
    acts.filter((act) => act.kind === kind).flatMap(({ details }) => (details[detail] ?? '').split(' '));
  const deleted = new Set([...named('dead-letters-deleted', 'events'), 'no-uuid']);
  const ofLog = acts.filter(({ kind }) => kind === 'dead-letter-kept').map(({ details }) => details);
  const kept = ofLog.filter(({ event = '' }) => !deleted.has(event));
  const digests = new Map(kept.map(({ event = '', sha256 }) => [event, sha256]));
  const letters = await sql<LetterRow>`
    select organization, id, created_at, reason, encode(sha256(event), 'hex') as event from dead_letters
    where organization = ${organization} and lower(id) = any(${[...digests.keys()]}::text[]) order by id
  `.execute(trx);
  const changed = letters.rows.filter((row) => digests.get(row.id.toLowerCase()) !== digestOfLetter(row));
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${[...digests.keys()]}::text[]) as kept (id)
    where not exists (select from dead_letters d where d.organization = ${organization} and lower(d.id) = kept.id)
      and not exists (select from events e where e.organization = ${organization} and e.id = kept.id::uuid)
    order by id
  `.execute(trx);
  return [
    ...rows.map(({ id }) => `The dead letter of event ${id} is gone, and no act says who deleted it.`),
    ...changed.map(({ id }) => `The dead letter of event ${id} is not the one that the log has: it was changed.`),
  ].map((sentence) => ({ sentence }));
}

/**
 * The findings about acts of owners whose rows were changed, and about mutes that hold, or have
 * ended, by the acts and not by their rows: rows count. Retention deletes other rows.
 */
export async function wrongRows(trx: Reading, organization: string, acts: readonly Act[]): Promise<Finding[]> {
  const ofOwners = acts.filter(({ details }) => details['row'] !== undefined);
  if (ofOwners.length === 0) return [];
  const found = await trx.selectFrom('acts').selectAll().where('organization', '=', organization).execute();
  const rows = new Map(found.map((row) => [row.id, row]));
  const ended = new Set(acts.filter(({ kind }) => kind === 'unmuted').map(({ details }) => details['mute']));
  const isOver = ({ details: { until = '9999', mute } }: Act): boolean =>
    ended.has(mute) || until < new Date().toISOString();
  return ofOwners.flatMap((act): Finding[] => {
    const { kind, by, details } = act;
    const row = rows.get(details['row'] ?? '');
    if (row !== undefined) {
      if (digestOfRow(row) === details['sha256']) return [];
      return [{ sentence: `The row ${row.id} of ${by} (${kind}) is not the one that the log has: it was changed.` }];
    }
    const mute = details['mute'] ?? '';
    if (kind === 'muted' && !isOver(act)) {
      return [{ sentence: `The mute ${mute} of ${by} is gone, and no act says who ended it.` }];
    }
    const isRevived = kind === 'unmuted' && rows.has(mute);
    return isRevived ? [{ sentence: `The end of the mute ${mute} by ${by} is gone, so that it mutes again.` }] : [];
  });
}
