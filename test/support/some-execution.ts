import { sql } from 'kysely';
import type { ExecutionState } from '../../internal/event/outcome/execution-state.ts';
import type { TestDatabase } from './store.ts';

/** The last part of the address of an execution of `acme` in a state. */
export async function executionWith({ db }: Pick<TestDatabase, 'db'>, state: ExecutionState): Promise<string> {
  const { rows } = await sql<{ automation_id: string; execution_id: string }>`
    select automation_id, execution_id from executions where organization = 'acme' and state = ${state}
    order by first_event_at desc limit 1
  `.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`no execution is ${state}`);
  return `${row.automation_id}/${encodeURIComponent(row.execution_id)}`;
}

/** The automation of `acme` with the newest failure. */
export async function automationWith(database: Pick<TestDatabase, 'db'>): Promise<string> {
  return (await executionWith(database, 'failed')).split('/')[0] ?? '';
}

/** The declared automation of the demo whose run is missing. */
export async function declaredIn({ db }: Pick<TestDatabase, 'db'>): Promise<string> {
  const named = db.selectFrom('automations').select('automation_id').where('name', '=', 'nightly-invoices');
  return (await named.executeTakeFirstOrThrow()).automation_id;
}

/** The oldest open alert of `acme`. */
export async function openAlertIn({ db }: Pick<TestDatabase, 'db'>): Promise<string> {
  const open = db.selectFrom('alerts').select('id').where('organization', '=', 'acme').where('resolved_at', 'is', null);
  return (await open.orderBy('opened_at').executeTakeFirstOrThrow()).id;
}
