import { sql, type Transaction } from 'kysely';
import { Frontier } from '../../ledger/frontier.ts';
import { countOf, fillsTile, grow } from '../../ledger/growth.ts';
import { isLeaf, leafSize, readLeaf, splitLeaves } from '../../ledger/leaf.ts';
import { isMacOf, isMadeTree, macsOfTree, macSize, type MacKey } from '../../ledger/mac.ts';
import type { Database, Tables } from '../database.ts';
import { isHere } from '../organizations/here.ts';
import { inSealTurn } from './seal-turn.ts';
import { writeGrowth, type SealedGrowth } from '../write-growth.ts';

/** Most segments of one step: an event that came alone is a segment by itself. */
const mostSegments = 5_000;

/**
 * About how many bytes of leaves come as one row. One row with all leaves of a round would take
 * several times their size in buffers and cause more full garbage collections.
 */
const bytesOfRow = 16_384;

/** In place of a MAC that a segment lacks: no key makes it. */
const noMac = Buffer.alloc(macSize);

type Trx = Transaction<Tables>;

/** How many leaves got their places, and which got none because their segment has no valid MAC. */
export interface ExtendReport {
  placed: number;
  refused: Refused[];
}

/** Leaves of an organization that get no place. */
export interface Refused {
  organization: string;
  /** The ids of the first few. */
  ids: string[];
  leaves: number;
}

/**
 * Gives about `mostLeaves` of the oldest waiting leaves their places in the logs, in one
 * transaction. Leaves without a MAC by one of the keys stay, and so do those of a log whose tree
 * none of the keys made. Resolves with undefined while another worker has the turn.
 */
export async function extendLedgers(
  db: Database,
  keys: readonly MacKey[],
  mostLeaves: number,
): Promise<ExtendReport | undefined> {
  const foreign: string[] = [];
  for (;;) {
    try {
      return await extendBut(db, keys, mostLeaves, foreign);
    } catch (error) {
      if (!(error instanceof ForeignTrees)) throw error;
      foreign.push(...error.organizations);
    }
  }
}

/** Logs whose trees none of the keys made. */
class ForeignTrees extends Error {
  override readonly name = 'ForeignTrees';
  readonly organizations: readonly string[];

  constructor(organizations: readonly string[]) {
    super(`foreign trees: ${organizations.join(', ')}`);
    this.organizations = organizations;
  }
}

/** @throws {ForeignTrees} before it changes anything. */
function extendBut(db: Database, keys: readonly MacKey[], mostLeaves: number, foreign: readonly string[]) {
  return inSealTurn(db, async (trx): Promise<ExtendReport> => {
    const { valid: waiting, refused } = await takeSegments(trx, keys, mostLeaves * leafSize, foreign);
    await keepRefused(trx, refused);
    const report = { placed: 0, refused: refused.map(described) };
    if (waiting.size === 0) return report;
    const trees = await readTrees(trx, keys, [...waiting.keys()]);
    const full = [...waiting].filter(([name, leaves]) => fillsTile(trees.get(name)?.size ?? 0, countOf(leaves)));
    const tails = await takeTails(
      trx,
      full.map(([name]) => name),
    );
    const growths = new Map<string, SealedGrowth>();
    for (const [name, leaves] of waiting) {
      const growth = grow(trees.get(name) ?? new Frontier(), tails.get(name) ?? [], leaves);
      growths.set(name, { ...growth, mac: macsOfTree(keys, name, growth.frontier) });
    }
    await writeGrowth(trx, growths);
    report.placed = [...waiting.values()].reduce((sum, leaves) => sum + countOf(leaves), 0);
    return report;
  });
}

/**
 * Makes the sealer look again at leaves that it refused: an earlier worker may have lacked a key.
 * Resolves with the number of segments.
 */
export async function retryRefused(db: Database): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('log_segments')
    .set({ refused: false })
    .where('refused', '=', true)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Leaves of one organization. An embedded Postgres returns bytes in another class. */
interface Leaves {
  organization: string;
  leaves: Uint8Array;
}

function byOrganization(rows: readonly Leaves[]): Map<string, Uint8Array[]> {
  const groups = Map.groupBy(rows, ({ organization }) => organization);
  return new Map(Array.from(groups, ([organization, own]) => [organization, own.map(({ leaves }) => leaves)]));
}

/** A segment whose MAC is wrong. */
interface RefusedSegment {
  organization: string;
  leaves: Buffer;
  mac: Buffer;
}

/** Segments of one organization that follow each other, joined. */
interface JoinedSegments extends Leaves {
  /** The bytes of each. */
  lengths: number[];
  /** The MAC of each: zeros if it is missing or has another length. */
  macs: Uint8Array;
}

/**
 * Removes the oldest segments. Resolves with the leaves of those with a valid MAC, by organization.
 * Those of an organization on its way here have numbers of the other database, and may share one.
 */
async function takeSegments(
  trx: Trx,
  keys: readonly MacKey[],
  mostBytes: number,
  except: readonly string[],
): Promise<{ valid: Map<string, Uint8Array[]>; refused: RefusedSegment[] }> {
  const { rows } = await sql<JoinedSegments>`
    with taken as (
      delete from log_segments where (organization, id) in (
        select organization, id from (
          select organization, id, sum(bytes) over (order by id, organization) - bytes as before
          from (
            select organization, id, octet_length(leaves) as bytes from log_segments
            where not refused and organization <> all(${except}::text[]) and ${isHere('organization')} order by id limit ${mostSegments}
          ) as oldest
        ) as summed
        where before < ${mostBytes}
      )
      returning id, organization, leaves, mac
    ), parts as (
      select id, organization, leaves,
        case when octet_length(mac) = ${sql.lit(macSize)} then mac else ${noMac}::bytea end as mac,
        sum(octet_length(leaves)) over (partition by organization order by id) / ${sql.lit(bytesOfRow)} as part
      from taken
    )
    select organization, string_agg(leaves, ''::bytea order by id) as leaves,
      array_agg(octet_length(leaves) order by id) as lengths, string_agg(mac, ''::bytea order by id) as macs
    from parts group by organization, part order by organization, part
  `.execute(trx);
  const refused: RefusedSegment[] = [];
  const valid = rows.flatMap((row) => {
    const leaves = withMac(row, keys, refused);
    return leaves.length === 0 ? [] : [{ organization: row.organization, leaves }];
  });
  return { valid: byOrganization(valid), refused };
}

/** The leaves of segments with a valid MAC; adds the others to `refused`. */
function withMac(row: JoinedSegments, keys: readonly MacKey[], refused: RefusedSegment[]): Buffer {
  const { organization, lengths } = row;
  const [all, macs] = [Buffer.from(row.leaves), Buffer.from(row.macs)];
  const valid: Buffer[] = [];
  let end = 0;
  for (const [at, length] of lengths.entries()) {
    const leaves = all.subarray(end, (end += length));
    const mac = macs.subarray(at * macSize, (at + 1) * macSize);
    if (isMacOf(keys, organization, leaves, mac)) valid.push(leaves);
    else refused.push({ organization, leaves, mac });
  }
  return valid.length === lengths.length ? all : Buffer.concat(valid);
}

async function keepRefused(trx: Trx, refused: readonly RefusedSegment[]): Promise<void> {
  if (refused.length === 0) return;
  await trx
    .insertInto('log_segments')
    .values(refused.map((segment) => ({ ...segment, refused: true })))
    .execute();
}

/** Most ids of a segment that a report names. */
const mostNamed = 10;

function described({ organization, leaves }: RefusedSegment): Refused {
  const whole = leaves.subarray(0, leaves.length - (leaves.length % leafSize));
  const named = splitLeaves(whole).filter(isLeaf).slice(0, mostNamed);
  return { organization, ids: named.map((leaf) => readLeaf(leaf).id), leaves: whole.length / leafSize };
}

/** @throws {ForeignTrees} */
async function readTrees(trx: Trx, keys: readonly MacKey[], organizations: string[]): Promise<Map<string, Frontier>> {
  const { rows } = await sql<{ organization: string; size: string; frontier: Uint8Array; mac: Uint8Array | null }>`
    select organization, size, frontier, mac from log_trees where organization = any(${organizations}::text[])
  `.execute(trx);
  const trees = rows.map((row) => ({ ...row, size: Number(row.size), bytes: Buffer.from(row.frontier) }));
  const foreign = trees.filter((tree) => !isMadeTree(keys, tree.organization, tree, tree.mac));
  if (foreign.length > 0) throw new ForeignTrees(foreign.map(({ organization }) => organization));
  return new Map(trees.map(({ organization, size, bytes }) => [organization, new Frontier(size, bytes)]));
}

/** Removes the tails of logs that fill a tile; resolves with their leaves. */
async function takeTails(trx: Trx, organizations: string[]): Promise<Map<string, Uint8Array[]>> {
  if (organizations.length === 0) return new Map();
  const { rows } = await sql<Leaves>`
    with taken as (
      delete from log_tails where organization = any(${organizations}::text[])
      returning organization, first_index, leaves
    )
    select organization, string_agg(leaves, ''::bytea order by first_index) as leaves from taken group by organization
  `.execute(trx);
  return byOrganization(rows);
}
