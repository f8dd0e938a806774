import type { Gap } from '../../expectation/history.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';

/** How much later a gap in the record may become known, in ms. */
const knownLaterMs = 3_600_000;

/**
 * How far beyond the oldest run of an evaluation gaps are read, in ms: rules look back by minutes.
 */
const reserveMs = 86_400_000;

/**
 * Stores the gaps that end after `since` minus an hour. Touching gaps become one row: a pod with a
 * wrong clock notes one every five seconds, and several pods may note the same.
 */
export async function keepGaps(trx: Transaction<Tables>, gaps: readonly Gap[], since: number): Promise<void> {
  const recent = joined(gaps.filter(({ until }) => until > since - knownLaterMs));
  const [first] = recent;
  if (first === undefined) return;
  const kept = await gapsWithin(trx, first.from, Math.max(...recent.map(({ until }) => until)));
  const isKept = ({ from, until }: Gap): boolean => kept.some((row) => row.from <= from && row.until >= until);
  const missing = recent.filter((gap) => !isKept(gap));
  if (missing.length === 0) return;
  const touches = (gap: Gap): boolean => missing.some(({ from, until }) => gap.from <= until && gap.until >= from);
  const touching = kept.filter(touches);
  await sql`
    delete from record_gaps where from_at = any(${touching.map(({ from }) => new Date(from).toISOString())}::timestamptz[])
  `.execute(trx);
  const rows = joined([...missing, ...touching]);
  await sql`
    insert into record_gaps (from_at, until_at, reason)
    select from_at, until_at, 'Ingest rejected events, took none, or had a wrong clock.' from unnest(
      ${rows.map(({ from }) => new Date(from).toISOString())}::timestamptz[],
      ${rows.map(({ until }) => new Date(until).toISOString())}::timestamptz[]
    ) as gap (from_at, until_at)
  `.execute(trx);
}

/** Merges touching gaps, oldest first. */
function joined(gaps: readonly Gap[]): Gap[] {
  const all: Gap[] = [];
  for (const { from, until } of gaps.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else all.push({ from, until });
  }
  return all;
}

async function gapsWithin(trx: Transaction<Tables>, from: number, until = Infinity): Promise<Gap[]> {
  const rows = await trx
    .selectFrom('record_gaps')
    .select(['from_at', 'until_at'])
    .where('until_at', '>=', new Date(from))
    .$if(until !== Infinity, (query) => query.where('from_at', '<=', new Date(until)))
    .orderBy('from_at')
    .execute();
  return rows.map(({ from_at, until_at }) => ({ from: from_at.getTime(), until: until_at.getTime() }));
}

/** The gaps in the record for one tick. Reads only those that an evaluation can need. */
export class TickGaps {
  readonly #trx: Transaction<Tables>;
  #read: { since: number; gaps: Gap[] } = { since: Infinity, gaps: [] };

  constructor(trx: Transaction<Tables>) {
    this.#trx = trx;
  }

  /** The gaps for evaluations whose oldest run or declaration has this time, oldest first. */
  async since(time: number): Promise<readonly Gap[]> {
    const since = Math.max(0, time - reserveMs);
    if (time !== Infinity && since < this.#read.since) {
      this.#read = { since, gaps: joined(await gapsWithin(this.#trx, since)) };
    }
    return this.#read.gaps;
  }
}
