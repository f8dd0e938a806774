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

/** An event without the ids of its automation and execution. */
export type Part = Omit<EventRequest, 'automation_id' | 'execution_id'>;

/**
 * The events of a signal, with the body as their text. `alone`: no START of the run is known, so
 * one is added first.
 */
export function eventsOf({ kind, errorId }: Signal, { text, cut }: TextEnd, alone: boolean): Part[] {
  const description = endOfText(text, fieldLimits.description, cut);
  if (kind === 'start') return [{ event: 'START', description }];
  const first: Part[] = alone ? [{ event: 'START' }] : [];
  if (kind === 'log') return [...first, { event: 'EVENT', description }];
  if (kind === 'success') return [...first, { event: 'END', description }];
  const error_description = endOfText(text, fieldLimits.errorDescription, cut);
  const error: Part = { event: 'ERROR', description, error_id: errorId, error_description };
  return [...first, error, { event: 'END' }];
}
