import { RequestError } from '../kit/errors/request-error.ts';
import type { AcceptedEvent } from './event.ts';
import { optionalFields } from './fields.ts';

/** The object of an event with its two UUIDs, and the header of a text. Measured on Node 24. */
const objectBytes = 400;
const headerBytes = 16;

/** V8 keeps a text with such a character in two bytes a character. */
const wide = /[^\0-\xff]/;

/**
 * Returns the bytes that an event takes in the memory of a process, about. Cheap: V8 answers the
 * search at once for a text of one byte a character.
 */
export function heldBytes(event: AcceptedEvent): number {
  let bytes = objectBytes + heldTextBytes(event.executionId);
  for (const { property } of optionalFields) bytes += heldTextBytes(event[property]);
  return bytes;
}

/** Returns the bytes that a text takes in memory, about: 0 for an empty text. */
export function heldTextBytes(text: string): number {
  if (text.length === 0) return 0;
  return headerBytes + (wide.test(text) ? 2 : 1) * text.length;
}

/**
 * Most bytes of memory that the events of one request may take, and so one job. Each body of
 * `bulkBodyLimit` stays below it; a worker can hold several such jobs.
 */
export const mostHeldBytes = 6 * 1_024 * 1_024;

/** Returns a 413 for events beyond {@link mostHeldBytes}. */
export function tooMuchHeld(): RequestError {
  const measure = 'two for each character of a text that has one beyond U+00FF, otherwise one';
  const detail = `The events of a request must not take more than ${mostHeldBytes} bytes: ${measure}.`;
  return new RequestError('payload-too-large', detail);
}
