import { optionalFields } from '../../event/fields.ts';

/** The columns of CSV and Parquet, named as the members of an event in NDJSON. */
export const columns = [
  'created_at',
  'id',
  'automation',
  'execution_id',
  'type_of_event',
  ...optionalFields.map(({ recorded }) => recorded),
  'salt',
  'texts_digest',
  'occurred_at',
] as const;

/**
 * One more column of Parquet: the automation in its canonical form, by which an object of the
 * archive is sorted. `automation` has it as the caller wrote it.
 */
export const automationId = 'automation_id';

/**
 * The columns by which a reader finds row groups: only these have a minimum and a maximum in the
 * footer, of which the others would be a third.
 */
export const keyColumns = [automationId, 'execution_id', 'created_at', 'occurred_at', 'type_of_event'] as const;
