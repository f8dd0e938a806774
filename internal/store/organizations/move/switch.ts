import { advisoryLocks } from '../../advisory-locks.ts';
import type { Database, Tables } from '../../database.ts';
import { sql, type Kysely, type Transaction } from '../../sql.ts';
import { deleteState } from '../residents.ts';
import { columnsOfBoth, readRows, writeRows, type CopiedTable } from './copied-rows.ts';
import { deleteDeclared } from './clean.ts';
import { declared, type Move } from './moved-tables.ts';

/** What a move copies while no tick runs, in an order that respects references. */
export const stateTables = [
  ...declared,
  { name: 'automations', key: ['automation_id'] },
  { name: 'channels', key: ['namespace', 'name'] },
  { name: 'scheduled_runs', key: ['automation_id', 'execution_id'] },
  { name: 'alerts', key: ['id'] },
  { name: 'alert_notices', key: ['alert_id', 'receiver'] },
  // They get numbers of the target, in the same order.
  { name: 'deliveries', key: ['sequence'] },
] as const;

/** Rows at once. */
const sliceSize = 500;

/** Works while nothing ticks in a database. */
export function withTicksHeld(db: Database, work: (held: Transaction<Tables>) => Promise<void>): Promise<void> {
  return db.transaction().execute(async (held) => {
    await lockTicks(held);
    await work(held);
  });
}

/** True while the target's watermark is older than the source's: its controller must tick first. */
export async function isBehind(here: Kysely<Tables>, there: Kysely<Tables>): Promise<boolean> {
  const [{ watermark: from }, { watermark: to }] = [await stateOf(here), await stateOf(there)];
  return from !== null && to !== null && to < from;
}

/**
 * Moves the controller's state and changes the map, while no tick runs in either database. It may
 * stop at any point: until the map has changed, the source counts and its state is whole; a tick
 * deletes the other copy.
 * @param here of {@link withTicksHeld}
 */
export async function switchDatabase(
  here: Transaction<Tables>,
  first: Database,
  move: Move,
  confirm: () => Promise<void>,
): Promise<void> {
  const { target, organization } = move;
  await withTicksHeld(target.db, async () => {
    const { rows } = await sql<{ snapshot: string }>`
      select pg_current_snapshot()::text as snapshot
    `.execute(await copyState(here, move));
    // Somebody else may have begun a move if the lock was lost.
    await confirm();
    await sql`
      insert into organization_databases (organization, database, since, stream_since)
      values (${organization}, ${target.name}, now(), ${rows[0]?.snapshot ?? null})
      on conflict (organization) do update
        set database = excluded.database, since = excluded.since, stream_since = excluded.stream_since
    `.execute(first);
  });
  await deleteState(here, [organization]);
}

async function lockTicks(trx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.tick)})`.execute(trx);
}

/**
 * Copies the state in its own transaction, which ends before the map changes. Waiting leaves get
 * numbers of the target.
 */
async function copyState(here: Transaction<Tables>, { source, target, organization }: Move): Promise<Database> {
  const tables: CopiedTable[] = [];
  for (const { name, key } of stateTables) {
    tables.push({ name, key, columns: await columnsOfBoth(source.db, target.db, name) });
  }
  await target.db.transaction().execute(async (trx) => {
    await deleteState(trx, [organization]);
    await deleteDeclared(trx, organization);
    for (const table of tables) await copyAll(here, trx, table, organization);
    await copyController(here, trx, organization);
    await sql`update automations set next_at = null where organization = ${organization}`.execute(trx);
    // Not by an update, whose new numbers could be those of rows that it has not reached yet.
    await sql`
      with waiting as (delete from log_segments where organization = ${organization} returning *)
      insert into log_segments (organization, leaves, mac, refused)
      select organization, leaves, mac, refused from waiting order by id
    `.execute(trx);
  });
  return target.db;
}

async function copyAll(
  here: Kysely<Tables>,
  there: Kysely<Tables>,
  table: CopiedTable,
  organization: string,
): Promise<void> {
  let after: Awaited<ReturnType<typeof readRows>>['last'];
  do {
    const rows = await readRows(here, table, { organization, after, limit: sliceSize });
    await writeRows(there, table, rows);
    after = rows.last;
  } while (after !== undefined);
}

/**
 * The target continues where the source is: with the record's gaps, and with the notifications
 * about executions that the source has not sent.
 */
async function copyController(here: Kysely<Tables>, there: Kysely<Tables>, organization: string): Promise<void> {
  const from = await stateOf(here);
  const to = await stateOf(there);
  const { rows } = await sql<{ json: string }>`
    select coalesce(json_agg(record_gaps), '[]')::text as json from record_gaps
  `.execute(here);
  await sql`
    insert into record_gaps as g select * from json_populate_recordset(null::record_gaps, ${rows[0]?.json ?? '[]'}::json)
    on conflict (from_at) do update set until_at = greatest(g.until_at, excluded.until_at)
  `.execute(there);
  if (from.watermark === null) return;
  if (to.watermark === null) {
    await there
      .updateTable('controller_state')
      .set({ watermark: from.watermark, watermark_at: from.watermark_at, executions_until: from.executions_until })
      .execute();
  }
  const until = from.executions_behind[organization] ?? from.executions_until?.toISOString();
  if (until === undefined) return;
  await sql`
    update controller_state
    set executions_behind = executions_behind || jsonb_build_object(${organization}::text, ${until}::text)
  `.execute(there);
}

function stateOf(db: Kysely<Tables>) {
  return db
    .selectFrom('controller_state')
    .select(['watermark', 'watermark_at', 'executions_until', 'executions_behind'])
    .executeTakeFirstOrThrow();
}
