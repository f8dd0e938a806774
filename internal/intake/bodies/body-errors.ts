import { RequestError } from '../../kit/errors/request-error.ts';

/** Returns a 400 for a body whose connection broke before the end. */
export function bodyUnreadable(): RequestError {
  return new RequestError('malformed-request', 'The connection closed before the end of the body.');
}

/** Returns a 413. `limit`: in bytes of the decoded body. */
export function bodyTooLarge(limit: number): RequestError {
  return new RequestError('payload-too-large', `The body must not be larger than ${limit} bytes.`);
}

/** Returns a 400 for a body that is no JSON document. */
export function malformed(detail: string): RequestError {
  return new RequestError('malformed-request', 'The body is not a JSON document; see errors.', [
    { pointer: '', detail },
  ]);
}
