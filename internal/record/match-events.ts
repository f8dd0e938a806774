import { sql } from '../store/sql.ts';
import { all, containing, time, type Condition } from './conditions.ts';
import { acceptedBetween, type ExecutionKey } from './execution.ts';
import type { ExecutionFilters } from './filters.ts';
import type { Reading } from './read-as.ts';

/** The executions that have an event with the wanted `error_id` and text. */
export async function matchEvents(
  trx: Reading,
  organization: string,
  executions: ExecutionKey[],
  { errorId, q }: ExecutionFilters,
): Promise<ExecutionKey[]> {
  let found = executions;
  if (errorId !== undefined) {
    const find = areShort(found) ? withError : withEvent;
    found = await find(trx, organization, found, isError(errorId));
  }
  if (q !== undefined) {
    const inId = new Set(found.filter((row) => row.execution_id.toLowerCase().includes(q.toLowerCase())));
    const others = found.filter((row) => !inId.has(row));
    const inEvents = new Set(await withEvent(trx, organization, others, containsText(q)));
    found = found.filter((row) => inId.has(row) || inEvents.has(row));
  }
  return found;
}

/** An ERROR with this `error_id`. */
export function isError(errorId: string): Condition {
  return sql`(kind = 'ERROR' and error_id = ${errorId})`;
}

/** The text of an event contains it. */
export function containsText(q: string): Condition {
  return sql`(description ilike ${containing(q)} or error_description ilike ${containing(q)})`;
}

/** True if the executions end soon after the last of them has begun. */
function areShort(executions: ExecutionKey[]): boolean {
  const begins = executions.map((row) => row.first_event_at.getTime());
  const [first, lastBegin] = [Math.min(...begins), Math.max(...begins)];
  const end = Math.max(...executions.map((row) => row.last_event_at.getTime()));
  return end - lastBegin <= Math.max(1_000, lastBegin - first);
}

/**
 * The executions with an ERROR for which the condition holds. It reads all errors meanwhile, of any
 * execution, in the order of their index.
 */
async function withError(
  trx: Reading,
  organization: string,
  executions: ExecutionKey[],
  condition: Condition,
): Promise<ExecutionKey[]> {
  if (executions.length === 0) return [];
  const first = new Date(Math.min(...executions.map((row) => row.first_event_at.getTime())));
  const last = new Date(Math.max(...executions.map((row) => row.last_event_at.getTime())));
  const { rows } = await sql<{ automation_id: string; execution_id: string }>`
    select distinct automation_id, execution_id from events
    where organization = ${organization} and created_at between ${time(first)} and ${time(last)} and ${condition}
  `.execute(trx);
  const keyOf = (row: { automation_id: string; execution_id: string }): string =>
    `${row.automation_id} ${row.execution_id}`;
  const keys = new Set(rows.map(keyOf));
  return executions.filter((row) => keys.has(keyOf(row)));
}

/**
 * The executions with an event for which the condition holds. The times of all of them bound the
 * partitions that are planned, the times of each bound those that are read.
 */
async function withEvent(
  trx: Reading,
  organization: string,
  executions: ExecutionKey[],
  condition: Condition,
): Promise<ExecutionKey[]> {
  if (executions.length === 0) return [];
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
  const { rows } = await sql<{ number: number }>`
    select x.number::integer as number
    from unnest(
      ${executions.map((row) => row.automation_id)}::uuid[],
      ${executions.map((row) => row.execution_id)}::text[],
      ${times.map(({ from }) => from.toISOString())}::timestamptz[],
      ${times.map(({ until }) => until.toISOString())}::timestamptz[]
    ) with ordinality as x (automation_id, execution_id, accepted_from, accepted_until, number)
    cross join lateral (select from events e where ${wanted} limit 1) as event
  `.execute(trx);
  const numbers = new Set(rows.map(({ number }) => number));
  return executions.filter((_, index) => numbers.has(index + 1));
}
