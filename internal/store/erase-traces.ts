import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import { eraseLetters } from './erase-dead-letters.ts';
import { contains, type ErasureScope } from './erasure-scope.ts';

/** Erases executions without events, and alerts, deliveries and dead letters of erased events. */
export function eraseTraces(db: Database, scope: ErasureScope): Promise<void> {
  const { organization, automationId, text } = scope;
  return db.transaction().execute(async (trx) => {
    await eraseLetters(trx, scope);
    const own = sql`organization = ${organization}`;
    if (text !== undefined) {
      await sql`delete from deliveries where ${own} and ${contains(sql`event::text`, text)}`.execute(trx);
      return;
    }
    await eraseExecutions(trx, scope);
    const ofAutomation = automationId === undefined ? own : sql`${own} and automation_id = ${automationId}::uuid`;
    const mentions = (text: RawBuilder<unknown>): RawBuilder<unknown> =>
      scope.executionId === undefined
        ? ofAutomation
        : sql`${ofAutomation} and strpos(${text}, ${JSON.stringify(scope.executionId)}) > 0`;
    await sql`delete from deliveries where ${mentions(sql`event::text`)}`.execute(trx);
    await sql`
      with gone as (delete from alerts where ${mentions(sql`facts::text || to_json(occurrence)`)} returning id)
      delete from alert_notices where alert_id in (select id from gone)
    `.execute(trx);
  });
}

/** In the order in which workers lock executions. */
async function eraseExecutions(trx: Transaction<Tables>, scope: ErasureScope): Promise<void> {
  const { organization, automationId, executionId } = scope;
  const chosen = sql`e.organization = ${organization}
    ${automationId === undefined ? sql`` : sql`and e.automation_id = ${automationId}::uuid`}
    ${executionId === undefined ? sql`` : sql`and e.execution_id = ${executionId}`}`;
  await sql`
    select 1 from executions e where ${chosen} order by automation_id, execution_id, organization for update
  `.execute(trx);
  await sql`
    delete from executions e where ${chosen} and not exists (
      select from events v
      where (v.automation_id, v.execution_id, v.organization) = (e.automation_id, e.execution_id, e.organization)
    )
  `.execute(trx);
}
