import { sql, type Transaction } from 'kysely';
import { Frontier } from '../log/frontier.ts';
import { countOf, fillsTile, grow, type Growth } from '../log/growth.ts';
import { leafSize } from '../log/leaf.ts';
import type { Database, Tables } from './database.ts';
import { inSealTurn } from './seal-turn.ts';
import { writeGrowth } from './write-growth.ts';

/** Most segments of one step: an event that came alone has one of its own. */
const mostSegments = 5_000;

/**
 * About how many bytes of leaves come as one row. A client that reads all leaves of a round as one
 * row takes several times their size in buffers, and Node collects its whole heap more often.
 */
const bytesOfRow = 16_384;

type Trx = Transaction<Tables>;

/**
 * Gives the oldest leaves that wait their place in the logs, about `mostLeaves` of them, in one
 * transaction. Resolves with their number; undefined while another worker has the turn.
 */
export function extendLogs(db: Database, mostLeaves: number): Promise<number | undefined> {
  return inSealTurn(db, async (trx) => {
    const waiting = await takeSegments(trx, mostLeaves * leafSize);
    if (waiting.size === 0) return 0;
    const trees = await readTrees(trx, [...waiting.keys()]);
    const full = [...waiting].filter(([name, leaves]) => fillsTile(trees.get(name)?.size ?? 0, countOf(leaves)));
    const tails = await takeTails(
      trx,
      full.map(([name]) => name),
    );
    const growths = new Map<string, Growth>();
    for (const [name, leaves] of waiting) {
      growths.set(name, grow(trees.get(name) ?? new Frontier(), tails.get(name) ?? [], leaves));
    }
    await writeGrowth(trx, growths);
    return [...waiting.values()].reduce((sum, leaves) => sum + countOf(leaves), 0);
  });
}

/** Leaves of one organization. An embedded Postgres gives bytes of another class. */
interface Leaves {
  organization: string;
  leaves: Uint8Array;
}

function byOrganization(rows: readonly Leaves[]): Map<string, Uint8Array[]> {
  const groups = Map.groupBy(rows, ({ organization }) => organization);
  return new Map(Array.from(groups, ([organization, own]) => [organization, own.map(({ leaves }) => leaves)]));
}

/** Removes the oldest segments; resolves with their leaves by organization, in order. */
async function takeSegments(trx: Trx, mostBytes: number): Promise<Map<string, Uint8Array[]>> {
  const { rows } = await sql<Leaves>`
    with taken as (
      delete from log_segments where id in (
        select id from (
          select id, sum(bytes) over (order by id) - bytes as before
          from (select id, octet_length(leaves) as bytes from log_segments order by id limit ${mostSegments}) as oldest
        ) as summed
        where before < ${mostBytes}
      )
      returning id, organization, leaves
    ), parts as (
      select id, organization, leaves,
        sum(octet_length(leaves)) over (partition by organization order by id) / ${sql.lit(bytesOfRow)} as part
      from taken
    )
    select organization, string_agg(leaves, ''::bytea order by id) as leaves from parts
    group by organization, part order by organization, part
  `.execute(trx);
  return byOrganization(rows);
}

async function readTrees(trx: Trx, organizations: string[]): Promise<Map<string, Frontier>> {
  const { rows } = await sql<{ organization: string; size: string; frontier: Uint8Array }>`
    select organization, size, frontier from log_trees where organization = any(${organizations}::text[])
  `.execute(trx);
  return new Map(rows.map((row) => [row.organization, new Frontier(Number(row.size), Buffer.from(row.frontier))]));
}

/** Removes the tails of logs of which a tile becomes full; resolves with their leaves. */
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
