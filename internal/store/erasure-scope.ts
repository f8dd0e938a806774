import { sql, type RawBuilder } from 'kysely';
import { optionalFields } from '../event/fields.ts';
import type { ErasedScope } from '../log/erasure.ts';
import { columnHoldsText } from './column-holds-text.ts';

/** The part of an organization to erase: everything, an automation, an execution, or a text. */
export interface ErasureScope {
  readonly organization: string;
  /** Later events stay: an erasure ends while events come in. By the time of acceptance. */
  readonly before: Date;
  readonly automationId?: string | undefined;
  /** With `automationId` only. */
  readonly executionId?: string | undefined;
  /** Alone: events whose texts contain it, in any letter case, lose their texts and stay. */
  readonly text?: string | undefined;
}

/** All texts of an event. */
const all = sql.join(
  optionalFields.map(({ column }) => sql.ref(column)),
  sql` || e'\\n' || `,
);

/** The events of a scope. */
export function chosenEvents({
  organization,
  before,
  automationId,
  executionId,
  text,
}: ErasureScope): RawBuilder<unknown> {
  const own = sql`organization = ${organization} and created_at < ${before}`;
  if (text !== undefined) return sql`${own} and ${columnHoldsText(all, text)}`;
  if (automationId === undefined) return own;
  const ofAutomation = sql`${own} and automation_id = ${automationId}::uuid`;
  return executionId === undefined ? ofAutomation : sql`${ofAutomation} and execution_id = ${executionId}`;
}

/** How the record of an erasure names the scope. */
export function scopeOf({ text, automationId, executionId }: ErasureScope): ErasedScope {
  if (text !== undefined) return 'text';
  if (executionId !== undefined) return 'execution';
  return automationId === undefined ? 'organization' : 'automation';
}
