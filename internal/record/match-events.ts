import { optionalFields } from '../event/fields.ts';
import { holdsText } from '../event/folded-text.ts';
import { columnHoldsText } from '../store/column-holds-text.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { all, time, type Condition } from './conditions.ts';
import { acceptedBetween, type ExecutionKey } from './execution.ts';
import { overEvents, type ArchivedSource, type Events, type NeededEvents } from './over-events.ts';
import type { Reading } from './read-as.ts';
import type { EventRow, StoredEvent } from './stored-event.ts';

/** Executions whose events match, and the objects of the archive that told so. */
export interface Matched<Row> {
  rows: Row[];
  archived: ArchivedSource[];
}

/** The executions that have an ERROR with this `error_id`. */
export function matchError<Row extends ExecutionKey>(
  db: Database,
  organization: string,
  executions: Row[],
  errorId: string,
): Promise<Matched<Row>> {
  return withEvent(db, organization, executions, isError(errorId), (row) => rowIsError(row, errorId));
}

/** The executions that have the text in their id or in an event. */
export async function matchText<Row extends ExecutionKey>(
  db: Database,
  organization: string,
  executions: Row[],
  q: string,
): Promise<Matched<Row>> {
  const inId = new Set(executions.filter((row) => holdsText(row.execution_id, q)));
  const others = executions.filter((row) => !inId.has(row));
  const found = await withEvent(db, organization, others, containsText(q), (row) => rowHoldsText(row, q));
  const inEvents = new Set(found.rows);
  return { ...found, rows: executions.filter((row) => inId.has(row) || inEvents.has(row)) };
}

/** An ERROR with this `error_id`. */
export function isError(errorId: string): Condition {
  return sql`(kind = 'ERROR' and error_id = ${errorId})`;
}

/** A text of an event contains it, in any letter case and any form of Unicode. */
export function containsText(q: string): Condition {
  const texts = optionalFields.map(({ column }) => columnHoldsText(sql.ref(column), q));
  return sql`(${sql.join(texts, sql` or `)})`;
}

/** As {@link containsText}, for a row in memory. */
export function rowHoldsText(row: EventRow, q: string): boolean {
  return optionalFields.some(({ column }) => holdsText(row[column], q));
}

/** As {@link isError}, for a row in memory. */
export function rowIsError({ kind, error_id }: EventRow, errorId: string): boolean {
  return kind === 'ERROR' && error_id === errorId;
}

/** As {@link containsText}, for an event in memory. */
export function eventHoldsText(event: StoredEvent, q: string): boolean {
  return optionalFields.some(({ recorded }) => holdsText(event[recorded], q));
}

/**
 * The executions with an event for which the condition holds. The times of all executions bound the
 * partitions that Postgres plans, and the times of each bound those that it reads.
 */
async function withEvent<Row extends ExecutionKey>(
  db: Database,
  organization: string,
  executions: Row[],
  condition: Condition,
  matches: (row: EventRow) => boolean,
): Promise<Matched<Row>> {
  if (executions.length === 0) return { rows: [], archived: [] };
  const times = executions.map(acceptedBetween);
  const first = new Date(Math.min(...times.map(({ from }) => from.getTime())));
  const last = new Date(Math.max(...times.map(({ until }) => until.getTime())));
  const wanted = all([
    sql`e.organization = ${organization}`,
    sql`(e.automation_id, e.execution_id) = (x.automation_id, x.execution_id)`,
    sql`e.created_at between x.accepted_from and x.accepted_until`,
    sql`e.created_at between ${time(first)} and ${time(last)}`,
    condition,
  ]);
  const keys = new Set(executions.map(keyOf));
  const needed: NeededEvents = {
    from: first,
    until: last,
    automationIds: [...new Set(executions.map((row) => row.automation_id))],
    matches: (row) => keys.has(keyOf(row)) && matches(row),
    onePer: keyOf,
    keep: 'newest',
    most: executions.length,
  };
  const find = async (trx: Reading, { source, archived = [] }: Events) => {
    const { rows } = await sql<{ number: number }>`
    select x.number::integer as number
    from unnest(
      ${executions.map((row) => row.automation_id)}::uuid[],
      ${executions.map((row) => row.execution_id)}::text[],
      ${times.map(({ from }) => from.toISOString())}::timestamptz[],
      ${times.map(({ until }) => until.toISOString())}::timestamptz[]
    ) with ordinality as x (automation_id, execution_id, accepted_from, accepted_until, number)
    cross join lateral (select from ${source} as e where ${wanted} limit 1) as event
  `.execute(trx);
    return { rows, archived };
  };
  const { rows, archived } = await overEvents(db, organization, needed, find);
  const numbers = new Set(rows.map(({ number }) => number));
  return { rows: executions.filter((_, index) => numbers.has(index + 1)), archived };
}

function keyOf({ automation_id, execution_id }: Pick<EventRow, 'automation_id' | 'execution_id'>): string {
  return `${automation_id} ${execution_id}`;
}
