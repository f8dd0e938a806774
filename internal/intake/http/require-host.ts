import type { Context } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';

/**
 * @throws {RequestError} for HTTP/1.1 without `Host` (RFC 9112, section 3.2), which Node would
 * answer without a problem document.
 */
export function requireHost({ req }: Context): void {
  if (req.headers.host === undefined && req.httpVersion === '1.1') {
    throw new RequestError('malformed-request', 'The header Host is missing.');
  }
}
