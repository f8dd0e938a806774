import type { HttpStack } from '../http-stack.ts';
import { exactRoutes } from './exact-routes.ts';
import { createHandler, sendJson } from './handler.ts';
import { readBody } from './read-body.ts';

/**
 * Saves CPU time where plain Koa spends it. The whole API test suite runs with this stack and with
 * `plainKoa`. test/bench/README.md lists the gain of each part.
 */
export const fastPath: HttpStack = { handler: createHandler, routes: exactRoutes, bodyReader: readBody, sendJson };
