import { sql, type RawBuilder, type Transaction } from 'kysely';
import { containing } from '../../event/folded-text.ts';
import { noteDigestOf, type ActRow } from '../acts/act-mac.ts';
import type { Database, Tables } from '../database.ts';
import { eraseLetters } from './erase-dead-letters.ts';
import { eraseBlocks, eraseEmptyExecutions } from './erase-executions.ts';
import type { ErasureRequest, ErasureScope } from './erasure-scope.ts';
import { isParked } from '../parked-deliveries.ts';

/** Erases executions without events, and alerts, deliveries and dead letters of erased events. */
export async function eraseTraces(db: Database, scope: ErasureRequest): Promise<void> {
  if (scope.text === undefined) await eraseBlocks(db, scope);
  await db.transaction().execute(async (trx) => {
    await eraseLetters(trx, scope);
    if (scope.text === undefined) await sql`delete from deliveries where ${chosenDeliveries(scope)}`.execute(trx);
    else {
      await eraseDeliveriesWith(trx, scope.organization, containing(scope.text));
      await eraseNotesWith(trx, scope.organization, containing(scope.text));
    }
    // Deliveries that waited for an erased one are due now.
    await sql`update deliveries set next_attempt_at = now() where ${ofAutomation(scope)} and ${isParked}`.execute(trx);
    if (scope.text !== undefined) return;
    await eraseEmptyExecutions(trx, scope);
    await eraseActs(trx, scope);
    // The names that its tools gave an automation; a declaration is not part of the record.
    if (scope.executionId === undefined) {
      await sql`delete from automations where ${ofAutomation(scope)} and not declared`.execute(trx);
    }
    await sql`delete from scheduled_runs where ${ofExecution(scope)}`.execute(trx);
    await sql`
      with gone as (delete from alerts where ${chosenAlerts(scope)} returning organization, id),
      forgotten as (
        delete from acts where organization = ${scope.organization} and about in (select id from gone)
      )
      delete from alert_notices where (organization, alert_id) in (select organization, id from gone)
    `.execute(trx);
  });
}

/** Deliveries that are read at once. */
const pageSize = 1_000;

/** Erases the notifications with a text of their errors. */
async function eraseDeliveriesWith(
  trx: Transaction<Tables>,
  organization: string,
  holds: (text: string) => boolean,
): Promise<void> {
  const [execution, run] = [sql`event #> '{data,execution}'`, sql`event #> '{data,alert,run}'`];
  const texts = sql`concat_ws(e'\n', ${execution} ->> 'error_id', ${execution} ->> 'error_description',
    ${run} ->> 'error_id', ${run} ->> 'error_lines')`;
  let last = '0';
  for (;;) {
    const { rows } = await sql<{ sequence: string; texts: string }>`
      select sequence, ${texts} as texts from deliveries
      where organization = ${organization} and sequence > ${last} order by sequence limit ${pageSize}
    `.execute(trx);
    const chosen = rows.filter((row) => holds(row.texts)).map(({ sequence }) => sequence);
    await sql`delete from deliveries where sequence = any(${chosen}::bigint[])`.execute(trx);
    last = rows.at(-1)?.sequence ?? last;
    if (rows.length < pageSize) return;
  }
}

/** Erases what owners wrote about executions that are gone. Mutes stay, as declarations do. */
async function eraseActs(trx: Transaction<Tables>, scope: ErasureScope): Promise<void> {
  await sql`
    delete from acts where ${ofExecution(scope)} and kind in ('close', 'note') and not exists (
      select from executions e where e.organization = acts.organization and e.automation_id = acts.automation_id
        and e.execution_id = acts.execution_id
    )
  `.execute(trx);
}

/** Empties the notes of owners with a text. */
async function eraseNotesWith(
  trx: Transaction<Tables>,
  organization: string,
  holds: (text: string) => boolean,
): Promise<void> {
  let last = noId;
  for (;;) {
    const { rows } = await sql<Pick<ActRow, 'id' | 'note' | 'salt' | 'note_digest'>>`
      select id, note, salt, note_digest from acts where organization = ${organization} and id > ${last}::uuid
        and note <> '' order by id limit ${pageSize}
    `.execute(trx);
    const chosen = rows.filter(({ note }) => holds(note));
    const digests = chosen.map((row) => (row.salt === null ? null : Buffer.from(noteDigestOf(row))));
    await sql`
      update acts set note = '', salt = null, note_digest = erased.digest
      from unnest(${chosen.map(({ id }) => id)}::uuid[], ${digests}::bytea[]) as erased (id, digest)
      where acts.organization = ${organization} and acts.id = erased.id
    `.execute(trx);
    last = rows.at(-1)?.id ?? last;
    if (rows.length < pageSize) return;
  }
}

const noId = '00000000-0000-0000-0000-000000000000';

/** The notifications about the executions of a scope. */
function chosenDeliveries(scope: ErasureScope): RawBuilder<unknown> {
  const { executionId } = scope;
  if (executionId === undefined) return ofAutomation(scope);
  return sql`${ofAutomation(scope)} and (
    event #>> '{data,execution,execution_id}' = ${executionId}
    or ${named(sql`event #> '{data,alert,facts}'`, executionId)}
  )`;
}

function chosenAlerts(scope: ErasureScope): RawBuilder<unknown> {
  const { executionId } = scope;
  if (executionId === undefined) return ofAutomation(scope);
  return sql`${ofAutomation(scope)} and ${named(sql`facts`, executionId)}`;
}

function ofExecution(scope: ErasureScope): RawBuilder<unknown> {
  const { executionId } = scope;
  return executionId === undefined
    ? ofAutomation(scope)
    : sql`${ofAutomation(scope)} and execution_id = ${executionId}`;
}

/** True where facts are about an execution. */
function named(facts: RawBuilder<unknown>, executionId: string): RawBuilder<unknown> {
  return sql`${executionId} in (${facts} ->> 'execution', ${facts} ->> 'last_execution')`;
}

function ofAutomation({ organization, automationId }: ErasureScope): RawBuilder<unknown> {
  const own = sql`organization = ${organization}`;
  return automationId === undefined ? own : sql`${own} and automation_id = ${automationId}::uuid`;
}
