import type { Context } from 'koa';
import { RequestError, type FieldError } from '../../kit/errors/request-error.ts';
import type { RepeatKey } from '../../event/repeat-key.ts';
import { oneValue } from '../http/one-value.ts';

/** Visible ASCII: quoted as section 2.1 of the draft requires, or bare as many clients send it. */
const shape = /^"([\x21\x23-\x5b\x5d-\x7e]{1,255})"$|^([\x21\x23-\x5b\x5d-\x7e]{1,255})$/;

const bareShape = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;

/** True for a key without quotes, as events in a body hold it. */
export function isBareKey(key: unknown): key is string {
  return typeof key === 'string' && bareShape.test(key);
}

const fault: FieldError = {
  header: 'Idempotency-Key',
  detail: 'must be 1 to 255 visible ASCII characters, in double quotes or not, without quotes and backslashes',
};

/** The key that a caller chose, in the header or in an event; undefined without one. */
export function callerKey(key: string | undefined): RepeatKey | undefined {
  return key === undefined ? undefined : ['caller', key];
}

/**
 * Returns the header `Idempotency-Key` without its quotes; undefined if it is absent.
 * @throws {RequestError} when it is not 1 to 255 visible ASCII characters without quotes and
 * backslashes.
 */
export function idempotencyKeyOf(ctx: Context): string | undefined {
  const header = ctx.headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = keyIn(header);
  if (key !== undefined) return key;
  throw new RequestError('malformed-request', 'The header Idempotency-Key is not valid; see errors.', [fault]);
}

/** Returns the faults of the header, for a request that is refused anyway. */
export function idempotencyKeyFaults(ctx: Context): FieldError[] {
  const header = ctx.headers['idempotency-key'];
  return header === undefined || keyIn(header) !== undefined ? [] : [fault];
}

function keyIn(header: string | string[]): string | undefined {
  // A key has no comma followed by a space, so a repeated header does not match at first.
  const match = typeof header === 'string' ? (shape.exec(header) ?? shape.exec(oneValue(header))) : null;
  return match?.[1] ?? match?.[2];
}
