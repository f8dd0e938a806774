import { RequestError } from '../errors/request-error.ts';
import type { EventRequest, FieldLimits } from '../event/schema.ts';
import { cutText } from '../event/stored-text.ts';

/** The message of a ping about its run. An exit code above 0 is the `errorId` of a failure. */
export interface Signal {
  kind: 'start' | 'log' | 'success' | 'fail';
  errorId: string;
}

/**
 * The signal of the last part of a ping's path; undefined means success.
 * @throws {RequestError} `not-found` for another word.
 */
export function signalOf(word = '0'): Signal {
  if (word === 'start' || word === 'log' || word === 'fail') return { kind: word, errorId: '' };
  if (!/^\d{1,3}$/.test(word) || Number(word) > 255) {
    throw new RequestError(
      'not-found',
      'Use start, fail, log, an exit code (0 to 255) or nothing after the automation.',
    );
  }
  const code = Number(word);
  return code === 0 ? { kind: 'success', errorId: '' } : { kind: 'fail', errorId: String(code) };
}

/** An event without the ids of its automation and execution. */
export type Part = Omit<EventRequest, 'automation_id' | 'execution_id'>;

/**
 * The events of a signal, with the body as their text. `alone`: no START of the run is known, so it
 * comes first.
 */
export function eventsOf(
  { kind, errorId }: Signal,
  text: string,
  limits: Pick<FieldLimits, 'description' | 'errorDescription'>,
  alone: boolean,
): Part[] {
  const description = cutText(text, limits.description);
  if (kind === 'start') return [{ event: 'START', description }];
  const first: Part[] = alone ? [{ event: 'START' }] : [];
  if (kind === 'log') return [...first, { event: 'EVENT', description }];
  if (kind === 'success') return [...first, { event: 'END', description }];
  const error_description = cutText(text, limits.errorDescription);
  const error: Part = { event: 'ERROR', description, error_id: errorId, error_description };
  return [...first, error, { event: 'END' }];
}
