import { sql, type RawBuilder } from '../store/sql.ts';

export type Condition = RawBuilder<unknown>;

/** All of them; true if there is none. */
export function all(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` and `)})`;
}

/** A condition for a filter that is set. */
export function when<T>(value: T | undefined, condition: (value: T) => Condition): Condition[] {
  return value === undefined ? [] : [condition(value)];
}

/** A time as a parameter. */
export function time(value: Date | string): Condition {
  return sql`${typeof value === 'string' ? value : value.toISOString()}::timestamptz`;
}

/** A pattern for `ilike` that finds the text anywhere. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
