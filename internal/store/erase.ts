import { sql, type Transaction } from 'kysely';
import { optionalFields } from '../event/fields.ts';
import { createIdentitySource } from '../event/identity.ts';
import { joinIds, leafOfErasure, type Erasure } from '../log/erasure.ts';
import { leafOf } from '../log/leaf.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, Tables } from './database.ts';
import { findLetters } from './erase-dead-letters.ts';
import { chosenExecutions, recomputeExecutions } from './erase-executions.ts';
import { chosenEvents, scopeOf, type ErasureScope } from './erasure-scope.ts';
import { columnHoldsText } from './column-holds-text.ts';
import type { EventRow } from './events-table.ts';
import { forgetRewritten, noteRewritten, writtenBy } from './rewritten-events.ts';

type Trx = Transaction<Tables>;

/** The data to erase, and the name and the reason that its record gets. */
export interface ErasureRequest extends ErasureScope {
  readonly by: string;
  readonly reason: string;
}

/** Rows that an erasure would concern. */
export interface Erasable {
  events: number;
  /** None for a text: outcomes stay. */
  executions: number;
  deadLetters: number;
  /** Executions and dead letters that have the text in their ids only: these stay. */
  byName: number;
}

const identify = createIdentitySource();

/** Counts what is there now. */
export async function countErasable(db: Database, scope: ErasureScope): Promise<Erasable> {
  const { organization, text } = scope;
  const executions =
    text === undefined
      ? chosenExecutions(scope)
      : sql`organization = ${organization} and ${columnHoldsText(sql`execution_id`, text)}`;
  const { rows } = await sql<{ events: string; executions: string }>`
    select (select count(*) from events where ${chosenEvents(scope)}) as events,
      (select count(*) from executions where ${executions}) as executions
  `.execute(db);
  const letters = await findLetters(db, scope);
  const [found, events] = [Number(rows[0]?.executions), Number(rows[0]?.events)];
  const [chosen, byName] = text === undefined ? [found, 0] : [0, found + letters.byName];
  return { events, executions: chosen, deadLetters: letters.ids.length, byName };
}

/**
 * Erases the oldest events, `most` of them, and records who did it and why: in the table
 * `erasures`, and as a leaf of the log. An event that lost its texts gets a leaf of what is left.
 * Resolves with the record; undefined when none is left. The sealer waits meanwhile, so that no
 * event gets its leaf and is erased at the same time.
 */
export function eraseEvents(db: Database, request: ErasureRequest, most: number): Promise<Erasure | undefined> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.seal)})`.execute(trx);
    await forgetRewritten.execute(trx);
    const { ids, left } = await eraseOldest(trx, request, most);
    if (ids.length === 0) return undefined;
    const { id, createdAt } = identify();
    const { organization, by, reason, automationId = null } = request;
    const erasure: Erasure = {
      id,
      organization,
      erased_at: new Date(createdAt),
      erased_by: by,
      reason,
      scope: scopeOf(request),
      automation_id: automationId?.toLowerCase() ?? null,
      event_ids: joinIds(ids),
    };
    await trx.insertInto('erasures').values(erasure).execute();
    // Also without a log: it may come later, and must have the leaf.
    const leaves = Buffer.concat([...left.map(leafOf), leafOfErasure(erasure)]);
    await trx.insertInto('log_segments').values({ organization, leaves }).execute();
    return erasure;
  });
}

/** Resolves with the ids of the events, and the rows that are left of them. */
async function eraseOldest(trx: Trx, scope: ErasureScope, most: number): Promise<{ ids: string[]; left: EventRow[] }> {
  const chosen = sql`
    select organization, created_at, id, ${writtenBy('events')} as stored_by from events where ${chosenEvents(scope)}
    order by created_at, id limit ${most}
  `;
  const key = sql`(e.organization, e.created_at, e.id) = (c.organization, c.created_at, c.id)`;
  const empty = sql.join(optionalFields.map(({ column }) => sql`${sql.ref(column)} = ''`));
  const erase =
    scope.text === undefined
      ? sql`delete from events e using chosen c where ${key} returning e.id, e.automation_id, e.execution_id`
      : sql`, noted as (${noteRewritten(sql`select * from chosen`)})
          update events e set ${empty} from chosen c where ${key} returning e.*`;
  const { rows } = await sql<EventRow>`with chosen as materialized (${chosen}) ${erase}`.execute(trx);
  if (scope.text === undefined) await recomputeExecutions(trx, scope.organization, rows);
  return { ids: rows.map(({ id }) => id), left: scope.text === undefined ? [] : rows };
}
