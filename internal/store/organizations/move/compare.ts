import type { Database } from '../../database.ts';
import { sql } from '../../sql.ts';
import { readRows, type CopiedTable } from './copied-rows.ts';
import type { Copying, RecordTables } from './copy-record.ts';

/** Rows that are compared one by one at once. */
const sliceSize = 500;

/**
 * Compares the record in both databases, once the source is closed: events by day, executions by
 * all their columns. What only the target has is no difference: retention may have dropped it from
 * the source meanwhile.
 * @throws when the target lacks something.
 */
export async function compareRecord(copying: Copying, tables: RecordTables): Promise<void> {
  const { source, target, organization } = copying;
  const [here, there] = await Promise.all([daysOf(source, organization), daysOf(target, organization)]);
  for (const [day, figures] of here) {
    if (there.get(day) !== figures) throw new Error(`the events of ${day} differ: move the organization again`);
  }
  const [own, copied] = await Promise.all([source, target].map((db) => digestOf(db, tables.executions, organization)));
  if (own !== copied) await compareExecutions(copying, tables.executions);
}

/** How many events a day has, and a sum over their ids. */
async function daysOf(db: Database, organization: string): Promise<Map<string, string>> {
  const { rows } = await sql<{ day: string; figures: string }>`
    select (created_at at time zone 'UTC')::date::text as day,
      concat(count(*), ' ', sum(hashtextextended(id::text, 0))) as figures
    from events where organization = ${organization} group by 1
  `.execute(db);
  return new Map(rows.map(({ day, figures }) => [day, figures]));
}

function digestOf(db: Database, { name, columns }: CopiedTable, organization: string): Promise<string> {
  return db.transaction().execute(async (trx) => {
    await sql`set local timezone = 'UTC'`.execute(trx);
    const { rows } = await sql<{ digest: string }>`
      select concat(count(*), ' ', sum(hashtextextended(row(${sql.join(columns.map((column) => sql.ref(column)))})::text, 0)))
        as digest
      from ${sql.table(name)} where organization = ${organization}
    `.execute(trx);
    return rows[0]?.digest ?? '';
  });
}

async function compareExecutions({ source, target, organization }: Copying, table: CopiedTable): Promise<void> {
  const columns = (of: string) => sql.join(table.columns.map((column) => sql.ref(`${of}.${column}`)));
  const key = sql.join(table.key.map((column) => sql.ref(column)));
  let after: Awaited<ReturnType<typeof readRows>>['last'];
  for (;;) {
    const part = await readRows(source, table, { organization, after, limit: sliceSize });
    const { rows } = await sql<{ same: number }>`
      select count(*)::integer as same
      from json_populate_recordset(null::${sql.table(table.name)}, ${part.json}::json) as here
      join ${sql.table(table.name)} as there using (organization, ${key})
      where (${columns('here')}) is not distinct from (${columns('there')})
    `.execute(target);
    if (rows[0]?.same !== part.count) throw new Error('executions differ: move the organization again');
    if (part.last === undefined || part.count < sliceSize) return;
    after = part.last;
  }
}
