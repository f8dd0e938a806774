import { sql, type RawBuilder } from '../store/sql.ts';

export type Condition = RawBuilder<unknown>;

/** The conjunction of conditions; true if there are none. */
export function all(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` and `)})`;
}

/** A condition for a filter that is set. */
export function when<T>(value: T | undefined, condition: (value: T) => Condition): Condition[] {
  return value === undefined ? [] : [condition(value)];
}

/** A condition for rows of some automations, if the filter is set. */
export function whenAnyOf(automationIds: readonly string[] | undefined): Condition[] {
  return when(automationIds, (ids) => sql`automation_id = any(${[...ids]}::uuid[])`);
}

/** The times that ISO 8601 and Postgres write alike: the years 1 to 9999, in ms. */
const [earliest, latest] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** A time as a parameter, clamped to the years 1 to 9999. */
export function time(value: Date | string): Condition {
  if (typeof value === 'string') return sql`${value}::timestamptz`;
  const bounded = new Date(Math.min(latest, Math.max(earliest, value.getTime())));
  return sql`${bounded.toISOString()}::timestamptz`;
}
