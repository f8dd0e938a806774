import type { ServerResponse } from 'node:http';

/**
 * Calls a function once a response is closed, or immediately if it already is. After an `await`,
 * the event `close` may have passed.
 */
export function onClosed(response: ServerResponse, end: () => void): void {
  if (response.closed) end();
  else response.once('close', end);
}
