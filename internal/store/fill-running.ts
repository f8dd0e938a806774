import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';

/** Executions of one statement: their writers wait until it ends, some 50 ms. */
const chunkSize = 5_000;

/** Pause while writers hold all that are missing, in ms. */
const pauseMs = 100;

/**
 * Adds the running executions that are older than the triggers of migration 0003. May run while
 * workers write, and continue after an interruption. An execution that a worker holds waits for
 * the next statement, so this waits for no worker, and cannot add what an END just ended.
 */
export async function fillRunning(db: Database): Promise<void> {
  for (;;) {
    if ((await addChunk(db)) > 0) continue;
    if (!(await anyIsMissing(db))) return;
    await sleep(pauseMs);
  }
}

/** The running executions that the table lacks. */
const missing: RawBuilder<unknown> = sql`
  from executions e where state = 'running' and not exists (
    select from running_executions r
    where (r.organization, r.automation_id, r.execution_id) = (e.organization, e.automation_id, e.execution_id)
  )
`;

/** Resolves with how many it added. */
async function addChunk(db: Database): Promise<number> {
  const { rows } = await sql<{ added: number }>`
    with added as (
      insert into running_executions (organization, automation_id, execution_id, first_event_at)
      select organization, automation_id, execution_id, first_event_at ${missing}
      limit ${sql.lit(chunkSize)} for share of e skip locked
      on conflict do nothing
      returning organization
    )
    select count(*)::integer as added from added
  `.execute(db);
  return rows[0]?.added ?? 0;
}

async function anyIsMissing(db: Database): Promise<boolean> {
  const { rows } = await sql<{ missing: boolean }>`select exists (select ${missing}) as missing`.execute(db);
  return rows[0]?.missing === true;
}
