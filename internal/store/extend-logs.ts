import { sql, type Transaction } from 'kysely';
import { Frontier } from '../log/frontier.ts';
import { fillsTile, grow, type Growth } from '../log/growth.ts';
import { leafSize } from '../log/leaf.ts';
import type { Database, Tables } from './database.ts';
import { inSealTurn } from './seal-turn.ts';
import { writeGrowth } from './write-growth.ts';

/** Most segments of one step: an event that came alone has one of its own. */
const mostSegments = 5_000;

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
    const full = [...waiting].filter(([name, leaves]) => fillsTile(trees.get(name)?.size ?? 0, leaves));
    const tails = await takeTails(
      trx,
      full.map(([name]) => name),
    );
    const growths = new Map<string, Growth>();
    for (const [name, leaves] of waiting) {
      growths.set(name, grow(trees.get(name) ?? new Frontier(), tails.get(name) ?? Buffer.alloc(0), leaves));
    }
    await writeGrowth(trx, growths);
    return [...waiting.values()].reduce((sum, { length }) => sum + length, 0) / leafSize;
  });
}

/** Leaves of one organization. An embedded Postgres gives bytes of another class. */
interface Leaves {
  organization: string;
  leaves: Uint8Array;
}

function byOrganization(rows: readonly Leaves[]): Map<string, Buffer> {
  return new Map(rows.map(({ organization, leaves }) => [organization, Buffer.from(leaves)]));
}

/** Removes the oldest segments; resolves with their leaves by organization, in order. */
async function takeSegments(trx: Trx, mostBytes: number): Promise<Map<string, Buffer>> {
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
    )
    select organization, string_agg(leaves, ''::bytea order by id) as leaves from taken group by organization
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
async function takeTails(trx: Trx, organizations: string[]): Promise<Map<string, Buffer>> {
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
