import { holdsText } from '../event/folded-text.ts';
import type { EventKind } from '../event/schema.ts';
import { columnHoldsText } from '../store/column-holds-text.ts';
import { sql } from '../store/sql.ts';
import { time, when, whenAnyOf, type Condition } from './conditions.ts';
import type { AutomationFilters, EventFilters } from './filters.ts';
import { containsText, isError, rowHoldsText, rowIsError } from './match-events.ts';
import type { EventPosition, EventRow } from './stored-event.ts';

/** The conditions of the filters on a row of `events`. */
export function eventConditions(filters: EventFilters): Condition[] {
  const { automationId, automationIds, executionId, kind, from, to, errorId, q } = filters;
  return [
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...whenAnyOf(automationIds),
    ...when(executionId, (id) => sql`execution_id = ${id}`),
    ...when(kind, (kind) => sql`kind = ${kind}`),
    ...when(from, (from) => sql`created_at >= ${time(from)}`),
    ...when(to, (to) => sql`created_at < ${time(to)}`),
    ...when(errorId, isError),
    ...when(q, (q) => sql`(${containsText(q)} or ${columnHoldsText(sql`execution_id`, q)})`),
  ];
}

/** As {@link eventConditions}, for a row in memory. */
export function matchesEvent(row: EventRow, filters: EventFilters): boolean {
  const { executionId, kind, from, to, errorId, q } = filters;
  return (
    (automationsIn(filters)?.includes(row.automation_id) ?? true) &&
    (executionId === undefined || row.execution_id === executionId) &&
    (kind === undefined || row.kind === kind) &&
    (from === undefined || row.created_at >= from) &&
    (to === undefined || row.created_at < to) &&
    (errorId === undefined || rowIsError(row, errorId)) &&
    (q === undefined || rowHoldsText(row, q) || holdsText(row.execution_id, q))
  );
}

/** The automations that the filters allow, in their canonical form; undefined for all. */
export function automationsIn({ automationId, automationIds }: AutomationFilters): string[] | undefined {
  const one = automationId?.toLowerCase();
  const any = automationIds?.map((id) => id.toLowerCase());
  if (one === undefined) return any;
  return any === undefined || any.includes(one) ? [one] : [];
}

/** True if an index has the events of this kind. */
export function hasIndex(kind: EventKind): boolean {
  return kind === 'ERROR' || kind === 'WARNING';
}

/**
 * The condition that an index serves with the wanted events in order. The other filters apply to
 * the rows of a slice, which makes a slice a bounded read.
 */
export function indexedCondition({ automationId, kind, errorId }: EventFilters): Condition[] {
  if (errorId !== undefined) return [sql`kind = 'ERROR'`];
  if (kind !== undefined && hasIndex(kind)) return [sql`kind = ${sql.lit(kind)}`];
  return when(automationId, (id) => sql`automation_id = ${id}::uuid`);
}

/**
 * The condition for events after a position. Postgres prunes partitions by the first comparison
 * only, not by a comparison of rows.
 */
export function following({ createdAt, id }: EventPosition): Condition {
  return sql`created_at >= ${time(createdAt)} and (created_at, id) > (${time(createdAt)}, ${id}::uuid)`;
}
