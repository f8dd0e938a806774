import { idSize } from '../../ledger/erasure.ts';
import type { Database, Tables } from '../database.ts';
import { dayAfter, dayOf } from './days.ts';
import { countDefaultRows, listPartitions } from './partitions.ts';
import { sql, type Kysely } from '../sql.ts';

/** What has changed the rows of a set of events since they were stored. */
export interface RowChanges {
  /** How many of them lost their texts to an erasure. */
  erasedTexts: number;
  /** How many acts gave leaves and salts to events stored without them. */
  sealings: number;
}

/** A set of events. */
export interface EventSet extends RowChanges {
  rows: number;
  /** The XOR of their ids, in hexadecimal digits. */
  ids: string;
}

/** About how many events one query counts: it reads only an index, for some tenths of a second. */
const sliceRows = 500_000;

/**
 * The UTC days before `before` that have a partition, or rows in the DEFAULT partition, oldest
 * first.
 */
export async function listEventDays(db: Database, before: number): Promise<number[]> {
  const days = new Set((await countDefaultRows(db)).keys());
  for (const { from, to } of await listPartitions(db)) {
    for (let day = dayOf(from); day < to; day = dayAfter(day)) days.add(day);
  }
  return [...days].filter((day) => day < before).sort((a, b) => a - b);
}

/** The organizations with events on a day. Reads one entry of the primary key for each. */
export async function organizationsOfDay(db: Kysely<Tables>, day: number): Promise<string[]> {
  const ofDay = sql`created_at >= ${new Date(day)} and created_at < ${new Date(dayAfter(day))}`;
  const { rows } = await sql<{ organization: string }>`
    with recursive found as (
      (select organization from events where ${ofDay} order by organization limit 1)
      union all
      select (
        select organization from events where ${ofDay} and organization > found.organization order by organization limit 1
      )
      from found where organization is not null
    )
    select organization from found where organization is not null
  `.execute(db);
  return rows.map(({ organization }) => organization);
}

/** False for an organization without any event. */
export async function hasEvents(db: Database, organization: string): Promise<boolean> {
  for (const table of ['events', 'cold_days'] as const) {
    const one = db.selectFrom(table).select('organization').where('organization', '=', organization).limit(1);
    if ((await one.executeTakeFirst()) !== undefined) return true;
  }
  return false;
}

/** The events of an organization on a day, counted in slices of time. */
export async function measureEventDay(db: Database, organization: string, day: number): Promise<EventSet> {
  let rows = 0;
  let ids = 0n;
  let from: Date | undefined = new Date(day);
  const end = new Date(dayAfter(day));
  while (from !== undefined) {
    const next: Date | undefined = await beginOfNextSlice(db, organization, from, end);
    const slice = await measureSlice(db, organization, from, next ?? end);
    rows += slice.rows;
    ids ^= slice.ids;
    from = next;
  }
  return { rows, ids: ids.toString(16).padStart(32, '0'), ...(await countChanges(db, organization, day)) };
}

/** What has changed the rows of a day since they were stored. */
export async function countChanges(db: Kysely<Tables>, organization: string, day: number): Promise<RowChanges> {
  const [erasedTexts, sealings] = [countErasedTexts(db, organization, day), countSealings(db, organization, day)];
  return { erasedTexts: await erasedTexts, sealings: await sealings };
}

async function countErasedTexts(db: Kysely<Tables>, organization: string, day: number): Promise<number> {
  const erasures = await db
    .selectFrom('erasures')
    .select('event_ids')
    .where('organization', '=', organization)
    .where('scope', '=', 'text')
    .where('erased_at', '>=', new Date(day))
    .execute();
  return erasures.reduce((sum, { event_ids }) => sum + countIdsOfDay(Buffer.from(event_ids), day), 0);
}

/** An act names the ids of its events, and these begin with the time of acceptance. */
async function countSealings(db: Kysely<Tables>, organization: string, day: number): Promise<number> {
  const timeOf = (end: 'first' | 'last') => sql`left(replace(act::jsonb->>${sql.lit(end)}, '-', ''), 12) collate "C"`;
  const idTime = (time: number): string => time.toString(16).padStart(12, '0');
  const { rows } = await sql<{ sealings: number }>`
    select count(*)::float8 as sealings from log_acts
    where organization = ${organization} and act::jsonb->>'act' = 'older-events-sealed'
      and ${timeOf('first')} < ${idTime(dayAfter(day))} and ${timeOf('last')} >= ${idTime(day)}
  `.execute(db);
  return rows[0]?.sealings ?? 0;
}

async function beginOfNextSlice(db: Database, organization: string, from: Date, end: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ created_at: Date }>`
    select created_at from events
    where organization = ${organization} and created_at >= ${from} and created_at < ${end}
    order by created_at offset ${sliceRows} limit 1
  `.execute(db);
  const next = rows[0]?.created_at;
  return next !== undefined && next > from ? next : undefined;
}

async function measureSlice(
  db: Database,
  organization: string,
  from: Date,
  to: Date,
): Promise<{ rows: number; ids: bigint }> {
  const { rows } = await sql<{ events: number; ids: string | null }>`
    select count(*)::float8 as events, bit_xor(('x' || replace(id::text, '-', ''))::bit(128))::text as ids from events
    where organization = ${organization} and created_at >= ${from} and created_at < ${to}
  `.execute(db);
  const [{ events, ids } = { events: 0, ids: null }] = rows;
  return { rows: events, ids: BigInt(`0b${ids ?? '0'}`) };
}

/** An id begins with the time of acceptance. */
function countIdsOfDay(ids: Buffer, day: number): number {
  let count = 0;
  for (let at = 0; at < ids.length; at += idSize) if (dayOf(ids.readUIntBE(at, 6)) === day) count += 1;
  return count;
}
