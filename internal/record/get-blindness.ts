import type { Database } from '../store/database.ts';
import { noneBefore } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import { readAs } from './read-as.ts';

/** Most gaps that are reported, and how far back. */
const [mostGaps, gapsWithin] = [3, sql`interval '24 hours'`];

/** How far the record and the verdicts are behind. Times are ISO 8601. */
export interface Blindness {
  /** When a controller last looked; null if none ever has. */
  ticked_at: string | null;
  /** All events accepted before this time are in the record; null before the first look. */
  watermark: string | null;
  /** Why the watermark does not move, once it is far behind; null otherwise. */
  reason: string | null;
  /** The clock of Postgres. */
  now: string;
  /**
   * The newest gaps of the last day, newest first: events of these times may be missing. The time
   * before the organization's first event is none.
   */
  gaps: { from: string; until: string }[];
}

interface Row {
  watermark: Date | null;
  ticked_at: Date | null;
  blind_reason: string | null;
  now: Date;
  gaps: { from: string; until: string }[];
}

/** What the controller last wrote about itself, the same for every organization. */
export function getBlindness(db: Database, organization: string): Promise<Blindness> {
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<Row>`
      select watermark, ticked_at, blind_reason, clock_timestamp() as now, (
        select coalesce(json_agg(json_build_object('from', from_at, 'until', until_at)), '[]') from (
          select greatest(from_at, first.at) as from_at, until_at from record_gaps, lateral (
            select least((
              select first_event_at from executions where organization = ${organization} order by first_event_at limit 1
            ), ${noneBefore(organization)}) as at
          ) first
          where until_at > now() - ${gapsWithin} and until_at > first.at
          order by until_at desc limit ${sql.lit(mostGaps)}
        ) as newest
      ) as gaps
      from controller_state
    `.execute(trx);
    const [row] = rows;
    if (row === undefined) throw new Error('the table controller_state has lost its row');
    const iso = (text: string): string => new Date(text).toISOString();
    return {
      ticked_at: row.ticked_at?.toISOString() ?? null,
      watermark: row.watermark?.toISOString() ?? null,
      reason: row.blind_reason,
      now: row.now.toISOString(),
      gaps: row.gaps.map(({ from, until }) => ({ from: iso(from), until: iso(until) })),
    };
  });
}
