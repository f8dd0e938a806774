import { bodyFault } from '../bodies/body-fault.ts';
import { withoutMark } from '../bodies/byte-order-mark.ts';

/** The data of a CloudEvent: a value, or what is wrong with it. */
export interface CloudEventData {
  /** The event's member that holds it, as a JSON pointer. */
  readonly pointer: '/data' | '/data_base64';
  readonly value?: unknown;
  readonly fault?: string;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The data of an event in the JSON format: as it is, or decoded from the base64 in which SDKs write
 * data that they hold as bytes.
 */
export function dataOf({ data, data_base64: encoded }: Readonly<Record<string, unknown>>): CloudEventData {
  if (encoded === undefined || encoded === null) return objectAt('/data', data);
  const pointer = '/data_base64';
  if (data !== undefined && data !== null) return { pointer, fault: 'must not be beside data' };
  if (typeof encoded !== 'string' || !base64.test(encoded)) return { pointer, fault: 'must be base64' };
  const bytes = withoutMark(Buffer.from(encoded, 'base64'));
  try {
    return objectAt(pointer, JSON.parse(utf8.decode(bytes)));
  } catch {
    return { pointer, fault: bodyFault(bytes) };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function objectAt(pointer: CloudEventData['pointer'], value: unknown): CloudEventData {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { pointer, value } : { pointer, fault: 'must be a JSON object' };
}
