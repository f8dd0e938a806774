import { RequestError } from '../kit/errors/request-error.ts';
import type { AcceptedEvent } from './event.ts';
import { optionalFields } from './fields.ts';

/** Bytes of an event object with its two UUIDs, and of a string header. Measured on Node 24. */
const objectBytes = 400;
const headerBytes = 16;

/** V8 stores a string with such a character in two bytes a character. */
const wide = /[^\0-\xff]/;

/**
 * Estimates the memory that an event takes, in bytes. Cheap: for a one-byte string V8 answers the
 * search without a scan.
 */
export function heldBytes(event: AcceptedEvent): number {
  let bytes = objectBytes + heldTextBytes(event.executionId);
  for (const { property } of optionalFields) bytes += heldTextBytes(event[property]);
  return bytes;
}

/** Estimates the memory that a text takes, in bytes; 0 for an empty text. */
export function heldTextBytes(text: string): number {
  if (text.length === 0) return 0;
  return headerBytes + (wide.test(text) ? 2 : 1) * text.length;
}

/**
 * The most memory, in bytes, that the events of one request, and so of one job, may take. A body
 * within `bulkBodyLimit` stays below it; a worker can hold several such jobs.
 */
export const mostHeldBytes = 6 * 1_024 * 1_024;

/** Returns a 413 for events beyond {@link mostHeldBytes}. */
export function tooMuchHeld(): RequestError {
  const measure = 'two for each character of a text that has one beyond U+00FF, otherwise one';
  const detail = `The events of a request must not take more than ${mostHeldBytes} bytes: ${measure}.`;
  return new RequestError('payload-too-large', detail);
}
