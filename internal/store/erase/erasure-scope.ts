import { sql, type RawBuilder } from 'kysely';
import type { ErasedScope } from '../../ledger/erasure.ts';
import type { MacKey } from '../../ledger/mac.ts';

/** The part of an organization to erase: everything, an automation, an execution, or a text. */
export interface ErasureScope {
  readonly organization: string;
  /** Events accepted later stay, so an erasure ends even while events come in. */
  readonly before: Date;
  readonly automationId?: string | undefined;
  /** Only with `automationId`. */
  readonly executionId?: string | undefined;
  /** Never with the ids. Events whose texts contain it, by `fold`, lose their texts and stay. */
  readonly text?: string | undefined;
}

/** The data to erase, with the name and the reason for its record. */
export interface ErasureRequest extends ErasureScope {
  readonly by: string;
  readonly reason: string;
  /** Makes the MAC of the record's leaf; undefined for an organization without a log. */
  readonly macKey?: MacKey | undefined;
}

/** The events of a scope; `text` chooses by `findTexts`. */
export function chosenEvents({ organization, before, automationId, executionId }: ErasureScope): RawBuilder<unknown> {
  const own = sql`organization = ${organization} and created_at < ${before}`;
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
