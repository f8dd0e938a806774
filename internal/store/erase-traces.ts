import { sql, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';
import { eraseLetters } from './erase-dead-letters.ts';
import { eraseEmptyExecutions } from './erase-executions.ts';
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
    await eraseEmptyExecutions(trx, scope);
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
