import { answerHeaders } from '../http/answer-headers.ts';
import type { HttpStack } from '../http/http-stack.ts';
import { exactRoutes } from './exact-routes.ts';
import { createHandler, sendWith } from './handler.ts';
import { readBody } from './read-body.ts';

/**
 * Saves CPU time where plain Koa spends it. The whole API test suite runs with this stack and with
 * `plainKoa`. test/bench/README.md lists the gain of each part.
 */
export function fastPath(publicUrl: URL): HttpStack {
  return { handler: createHandler, routes: exactRoutes, bodyReader: readBody, ...sendWith(answerHeaders(publicUrl)) };
}
