import { sql, type Kysely, type Transaction } from 'kysely';
import { leafSize, splitLeaves, uuidAt } from '../../ledger/leaf.ts';
import { unpackTile } from '../../ledger/tiles.ts';
import { macOf, type MacKey } from '../../ledger/mac.ts';
import { advisoryLocks } from '../advisory-locks.ts';
import { appendAct } from './append-act.ts';
import type { Database, Tables } from '../database.ts';
import type { EventKey } from '../erase/find-texts.ts';
import { noteRewritten, writtenBy } from '../erase/rewritten-events.ts';
import { eventsAfter, isUnsalted, readStoredEvents, type Place } from '../stored-events.ts';

type Trx = Transaction<Tables>;

/** The events of a step, and who asked for it. */
export interface OlderStep {
  organization: string;
  by: string;
  reason: string;
  /** Begins after this event, or with the oldest one if absent. */
  after?: Place | undefined;
  /** The segments of earlier steps, whose events come before those of this one. */
  segments?: readonly string[] | undefined;
  /** Most events that it looks at. */
  most: number;
  /** Events that are hashed at a time; hashing blocks the event loop. */
  pageSize: number;
}

/** The result of a step: events read, leaves added, where they are, and the last event. */
export interface OlderReport {
  segments: string[];
  looked: number;
  added: number;
  last: Place | undefined;
}

/**
 * Adds leaves to events that were stored without one, by a worker without a log or by hand. Their
 * texts get a salt first, so that nobody can guess them from the digest that an erasure leaves. An
 * act in the log names the range and the number, so nobody adds an event unseen. The sealer waits
 * meanwhile.
 */
export function sealOlder(db: Database, key: MacKey, step: OlderStep): Promise<OlderReport> {
  const { organization, by, reason, segments: known = [] } = step;
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.seal)})`.execute(trx);
    await addSalts(trx, step);
    // Reads the events first: the leaf of each was committed with it, so the next read finds it.
    const { pages, last } = await readLeaves(trx, step);
    const missing = await withoutThoseOfLog(trx, organization, pages, known);
    const [looked, added] = [count(pages), count(missing)];
    if (added === 0) return { segments: [], looked, added, last };
    const segments = missing.map((leaves) => ({ organization, leaves, mac: macOf(key, organization, leaves) }));
    const written = await trx.insertInto('log_segments').values(segments).returning('id').execute();
    const ids = missing.flatMap((leaves) => splitLeaves(leaves).map(idOf)).sort();
    const details = { first: uuidOf(ids[0]), last: uuidOf(ids.at(-1)), events: String(added), reason };
    await appendAct(trx, key, { organization, kind: 'older-events-sealed', by, details });
    return { segments: written.map(({ id }) => id), looked, added, last };
  });
}

/** How many events of an organization have no leaf. */
export async function countUnsealed(db: Database, organization: string, pageSize: number): Promise<number> {
  let unsealed = 0;
  for await (const { leaves } of readStoredEvents(db, { organization, pageSize })) {
    if (leaves.length > 0) unsealed += count(await withoutThoseOfLog(db, organization, [leaves]));
  }
  return unsealed;
}

function count(leaves: readonly Buffer[]): number {
  return leaves.reduce((sum, { length }) => sum + length, 0) / leafSize;
}

/** Gives a salt to the texts of the next events. A random UUID has 122 random bits. */
async function addSalts(trx: Trx, { organization, after, most }: OlderStep): Promise<void> {
  const next = eventsAfter(organization, after);
  const { rows } = await sql<EventKey>`
    select created_at, id from events where ${next} order by created_at, id offset ${most - 1} limit 1
  `.execute(trx);
  const upTo = rows.map((end) => sql`and (created_at, id) <= (${end.created_at}, ${end.id}::uuid)`);
  const unsalted = sql`where ${next} ${upTo[0] ?? sql``} and ${isUnsalted}`;
  const stored = sql`select organization, created_at, id, ${writtenBy('events')} as stored_by from events`;
  await noteRewritten(sql`${stored} ${unsalted}`).execute(trx);
  await sql`update events set salt = uuid_send(gen_random_uuid()) ${unsalted}`.execute(trx);
}

/** The leaves of the next events, in pages, and the last event. */
async function readLeaves(trx: Trx, { organization, after, most, pageSize }: OlderStep) {
  const pages: Buffer[] = [];
  let last = after;
  // An event that a worker without a log stored just now is left to the next run.
  for await (const page of readStoredEvents(trx, { organization, after, pageSize, most, salted: true })) {
    pages.push(page.leaves);
    last = page.last ?? last;
  }
  return { pages, last };
}

/** Removes the leaves of events that have one in the log, and pages that become empty. */
async function withoutThoseOfLog(
  db: Kysely<Tables>,
  organization: string,
  pages: readonly Buffer[],
  known: readonly string[] = [],
): Promise<Buffer[]> {
  const ids = pages.flatMap((leaves) => splitLeaves(leaves).map(idOf)).sort();
  if (ids.length === 0) return [];
  const [first, last] = [uuidOf(ids[0]), uuidOf(ids.at(-1))];
  const { rows } = await sql<{ leaves: Uint8Array }>`
    select content as leaves from log_tiles
    where organization = ${organization} and level = 0 and last_id >= ${first}::uuid and first_id <= ${last}::uuid
    union all select leaves from log_tails where organization = ${organization}
    union all select leaves from log_segments where organization = ${organization} and not refused
      and id <> all(${known}::bigint[])
  `.execute(db);
  const present = new Set(rows.flatMap(({ leaves }) => splitLeaves(unpackTile(leaves)).map(idOf)));
  return pages
    .map((leaves) => Buffer.concat(splitLeaves(leaves).filter((leaf) => !present.has(idOf(leaf)))))
    .filter(({ length }) => length > 0);
}

/** The bytes of the id as text, which sorts as ids do. */
function idOf(leaf: Buffer): string {
  return leaf.toString('latin1', 1, 17);
}

function uuidOf(id = ''): string {
  return uuidAt(Buffer.from(id, 'latin1'));
}
