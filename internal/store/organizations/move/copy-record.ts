import type { Database, Tables } from '../../database.ts';
import { sql, type Transaction } from '../../sql.ts';
import {
  columnsOfBoth,
  mayWrite,
  readRows,
  readRowsOf,
  writeRows,
  type CopiedRows,
  type CopiedTable,
} from './copied-rows.ts';

/** Rows of one transaction, and how many of them pass until the progress is noted. */
const sliceSize = 500;
const slicesPerNote = 20;

/** Noted keys that are copied at once. */
const noted = 1_000;

/** A move that is under way. */
export interface Copying {
  source: Database;
  target: Database;
  organization: string;
  onProgress: (table: string, rows: number) => void;
}

/** The tables of the record, which a move copies while events are stored. */
export interface RecordTables {
  events: CopiedTable;
  executions: CopiedTable;
  deadLetters: CopiedTable;
}

/** @throws when the two databases have other columns. */
export async function recordTables({ source, target }: Copying): Promise<RecordTables> {
  const table = async (name: string, key: string[], replaces: boolean): Promise<CopiedTable> => {
    return { name, key, replaces, columns: await columnsOfBoth(source, target, name) };
  };
  return {
    events: await table('events', ['created_at', 'id'], false),
    executions: await table('executions', ['automation_id', 'execution_id'], true),
    deadLetters: await table('dead_letters', ['id'], false),
  };
}

/** Copies a table from the noted progress on, or from its begin. */
export async function copyTable(copying: Copying, table: CopiedTable, progress?: string): Promise<void> {
  const { source, target, organization, onProgress } = copying;
  let after = progress === undefined ? undefined : (JSON.parse(progress) as CopiedRows['last']);
  for (let slice = 1; ; slice += 1) {
    const rows = await readRows(source, table, { organization, after, limit: sliceSize });
    await write(target, organization, [[table, rows]]);
    onProgress(table.name, rows.count);
    after = rows.last ?? after;
    const atEnd = rows.count < sliceSize;
    if (atEnd || slice % slicesPerNote === 0) await noteProgress(source, organization, table, after);
    if (atEnd) return;
  }
}

async function noteProgress(
  source: Database,
  organization: string,
  { name, key }: CopiedTable,
  after: CopiedRows['last'],
): Promise<void> {
  if (after === undefined) return;
  const place = JSON.stringify(Object.fromEntries(key.map((column) => [column, after[column]])));
  await sql`
    update moved_organizations set progress = progress || jsonb_build_object(${name}::text, ${place}::text)
    where organization = ${organization}
  `.execute(source);
}

/**
 * Copies events that were stored meanwhile, and the executions that they changed, until fewer than
 * `enough` are left at once. The noted keys go when their rows are in the target.
 */
export async function catchUp(copying: Copying, { events, executions }: RecordTables, enough: number): Promise<void> {
  let copied = Infinity;
  while (copied >= enough) {
    copied = await copying.source.transaction().execute((trx) => copyNoted(trx, copying, events, executions));
    copying.onProgress('events', copied);
  }
}

async function copyNoted(
  trx: Transaction<Tables>,
  { target, organization }: Copying,
  events: CopiedTable,
  executions: CopiedTable,
): Promise<number> {
  const { rows: keys } = await sql<Record<string, string>>`
    delete from moving_events where ctid = any(array(
      select ctid from moving_events where organization = ${organization} limit ${sql.lit(noted)}
    ))
    returning to_json(created_at) #>> '{}' as created_at, id, automation_id, execution_id
  `.execute(trx);
  if (keys.length === 0) return 0;
  const column = (name: string) => keys.map((key) => key[name]);
  const times = column('created_at').map((text) => Date.parse(text ?? ''));
  const [from, to] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  const ofEvents = {
    keys: sql`
      select * from unnest(${column('created_at')}::timestamptz[], ${column('id')}::uuid[]) as key (created_at, id)`,
    within: sql`created_at >= ${from} and created_at <= ${to}`,
  };
  const ofExecutions = {
    keys: sql`
      select * from unnest(${column('automation_id')}::uuid[], ${column('execution_id')}::text[])
        as key (automation_id, execution_id)`,
    within: sql`true`,
  };
  await write(target, organization, [
    [events, await readRowsOf(trx, events, organization, ofEvents)],
    [executions, await readRowsOf(trx, executions, organization, ofExecutions)],
  ]);
  return keys.length;
}

async function write(
  target: Database,
  organization: string,
  parts: readonly (readonly [CopiedTable, CopiedRows])[],
): Promise<void> {
  if (parts.every(([, { count }]) => count === 0)) return;
  await target.transaction().execute(async (trx) => {
    await mayWrite(trx, organization);
    for (const [table, rows] of parts) await writeRows(trx, table, rows);
  });
}
