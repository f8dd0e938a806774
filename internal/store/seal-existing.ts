import { sql, type Transaction } from 'kysely';
import { leafSize, splitLeaves } from '../log/leaf.ts';
import type { Database, Tables } from './database.ts';
import { inSealTurn } from './seal-turn.ts';
import { readStoredEvents, type Place } from './stored-events.ts';

type Trx = Transaction<Tables>;

/** A log whose older events may lack leaves, and the last event looked at. */
interface Incomplete {
  organization: string;
  sealed_until_at: Date | null;
  sealed_until_id: string | null;
}

/** The result of a step: events looked at, and leaves added. */
export interface ExistingReport {
  looked: number;
  added: number;
}

/** Makes a log for each organization that has executions. */
export async function beginLogs(db: Database): Promise<void> {
  await sql`
    with recursive names as (
      (select organization from executions order by organization limit 1)
      union all
      select (select e.organization from executions e where e.organization > n.organization
        order by e.organization limit 1)
      from names n where n.organization is not null
    )
    insert into log_trees (organization, size, frontier)
    select organization, 0, '' from names where organization is not null
    on conflict do nothing
  `.execute(db);
}

/** How much a step does. */
export interface ExistingLimits {
  /** Most events that it looks at. */
  most: number;
  /** Events that are hashed at a time: nothing else runs meanwhile. */
  pageSize: number;
  /** How long a log waits after it began, in ms: until no worker without a log is left. */
  graceMs: number;
}

/**
 * Adds the leaves of events that were stored without one: by a release or a worker without a log.
 * Looks at the next events of one log, the oldest first, and remembers the last one. Resolves with
 * undefined while another worker has the turn, or if every log is complete.
 */
export function sealExisting(db: Database, limits: ExistingLimits): Promise<ExistingReport | undefined> {
  return inSealTurn(db, async (trx) => {
    const log = await nextIncomplete(trx, limits.graceMs);
    if (log === undefined) return undefined;
    // The events come first: the leaf of each was committed with it, so it is there afterwards.
    const { pages, last } = await readLeaves(trx, log, limits);
    const missing = await withoutThoseOfLog(trx, log.organization, pages);
    if (missing.length > 0) {
      const segments = missing.map((leaves) => ({ organization: log.organization, leaves }));
      await trx.insertInto('log_segments').values(segments).execute();
    }
    const looked = count(pages);
    await remember(trx, log.organization, last, looked < limits.most);
    return { looked, added: count(missing) };
  });
}

function count(leaves: readonly Buffer[]): number {
  return leaves.reduce((sum, { length }) => sum + length, 0) / leafSize;
}

async function nextIncomplete(trx: Trx, graceMs: number): Promise<Incomplete | undefined> {
  const { rows } = await sql<Incomplete>`
    select organization, sealed_until_at, sealed_until_id from log_trees
    where complete_at is null and began_at <= now() - ${graceMs} * interval '1 ms'
    order by organization limit 1
  `.execute(trx);
  return rows[0];
}

/** The leaves of the next events, a page at a time, and the last event. */
async function readLeaves(trx: Trx, log: Incomplete, { most, pageSize }: ExistingLimits) {
  const { organization, sealed_until_at: at, sealed_until_id: id } = log;
  const pages: Buffer[] = [];
  let last = at === null || id === null ? undefined : { createdAt: at.toISOString(), id };
  for await (const page of readStoredEvents(trx, { organization, after: last, pageSize, most })) {
    pages.push(page.leaves);
    last = page.last ?? last;
  }
  return { pages, last };
}

/** Takes out the leaves of events that have one in the log; and pages that become empty. */
async function withoutThoseOfLog(trx: Trx, organization: string, pages: readonly Buffer[]): Promise<Buffer[]> {
  const ids = pages.flatMap((leaves) => splitLeaves(leaves).map(idOf)).sort();
  const [first, last] = [ids[0], ids.at(-1)].map(uuidOf);
  const { rows } = await sql<{ leaves: Uint8Array }>`
    select content as leaves from log_tiles
    where organization = ${organization} and level = 0 and last_id >= ${first}::uuid and first_id <= ${last}::uuid
    union all select leaves from log_tails where organization = ${organization}
    union all select leaves from log_segments where organization = ${organization}
  `.execute(trx);
  const present = new Set(rows.flatMap(({ leaves }) => splitLeaves(Buffer.from(leaves)).map(idOf)));
  return pages
    .map((leaves) => Buffer.concat(splitLeaves(leaves).filter((leaf) => !present.has(idOf(leaf)))))
    .filter(({ length }) => length > 0);
}

/** The bytes of the id, as a text: these sort as ids do. */
function idOf(leaf: Buffer): string {
  return leaf.toString('latin1', 1, 17);
}

function uuidOf(id: string | undefined): string | null {
  return id === undefined ? null : Buffer.from(id, 'latin1').toString('hex');
}

async function remember(trx: Trx, organization: string, last: Place | undefined, isComplete: boolean): Promise<void> {
  await sql`
    update log_trees set
      sealed_until_at = ${last?.createdAt ?? null}::timestamp at time zone 'UTC',
      sealed_until_id = ${last?.id ?? null}::uuid,
      complete_at = case when ${isComplete}::boolean then now() end
    where organization = ${organization}
  `.execute(trx);
}
