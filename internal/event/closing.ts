import type { EventRequest } from './schema.ts';

/** What became of a run that a person closes. */
export const endings = ['ended', 'lost'] as const;
export type Ending = (typeof endings)[number];

/** The `error_id` of a run that was closed as lost. */
const lostError = 'lost';

/**
 * The events by which a person ends a run: END, or ERROR and END for one that is lost. They are not
 * validated.
 * @param by who closes it.
 */
export function closingEvents(
  run: Pick<EventRequest, 'automation_id' | 'execution_id'>,
  as: Ending,
  reason: string,
  by = 'hand',
): [Partial<EventRequest>, ...Partial<EventRequest>[]] {
  const description = `Closed by ${by}: ${reason}`;
  const end = { ...run, event: 'END', description } as const;
  if (as === 'ended') return [end];
  return [{ ...run, event: 'ERROR', description, error_id: lostError, error_description: reason }, end];
}
