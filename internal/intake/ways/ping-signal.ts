import { RequestError } from '../../kit/errors/request-error.ts';
import { fieldLimits, type EventRequest } from '../../event/schema.ts';
import { endOfText } from '../../event/stored-text.ts';
import type { TextEnd } from '../bodies/body-end.ts';

/** What a ping says about its run. An exit code above 0 is the `errorId` of a failure. */
export interface Signal {
  kind: 'start' | 'log' | 'success' | 'fail';
  errorId: string;
}

/** True for a word that can end the path of a ping. */
export function isSignal(word: string): boolean {
  return word === 'start' || word === 'log' || word === 'fail' || (/^\d{1,3}$/.test(word) && Number(word) <= 255);
}

/**
 * Parses the last part of a ping's path; undefined means success.
 * @throws {RequestError} `not-found` for any other word.
 */
export function signalOf(word = '0'): Signal {
  if (!isSignal(word)) {
    throw new RequestError(
      'not-found',
      'Use start, fail, log, an exit code (0 to 255) or nothing after the automation.',
    );
  }
  if (word === 'start' || word === 'log' || word === 'fail') return { kind: word, errorId: '' };
  const code = Number(word);
  return code === 0 ? { kind: 'success', errorId: '' } : { kind: 'fail', errorId: String(code) };
}

/**
 * Most characters of a body that a ping keeps. A start reports the largest limit of any ping,
 * because clients send that much at the end of its run.
 */
export function bodyLimitOf({ kind }: Signal): number {
  const { description, errorDescription } = fieldLimits;
  return kind === 'start' || kind === 'fail' ? Math.max(description, errorDescription) : description;
}

/** The ids of all events of a ping. */
type Ids = Pick<EventRequest, 'automation_id' | 'execution_id'>;

/**
 * The events of a signal, with the body as their text. `alone`: no START of the run is known, so
 * one is added first.
 */
export function eventsOf(
  { kind, errorId: error_id }: Signal,
  { text, cut }: TextEnd,
  { automation_id, execution_id }: Ids,
  alone: boolean,
): EventRequest[] {
  const description = endOfText(text, fieldLimits.description, cut);
  if (kind === 'start') return [{ automation_id, execution_id, event: 'START', description }];
  const events: EventRequest[] = alone ? [{ automation_id, execution_id, event: 'START' }] : [];
  if (kind === 'log') events.push({ automation_id, execution_id, event: 'EVENT', description });
  else if (kind === 'success') events.push({ automation_id, execution_id, event: 'END', description });
  else {
    const error_description = endOfText(text, fieldLimits.errorDescription, cut);
    events.push({ automation_id, execution_id, event: 'ERROR', description, error_id, error_description });
    events.push({ automation_id, execution_id, event: 'END' });
  }
  return events;
}
