import type { Middleware } from 'koa';
import type { Scope } from '../login/token-desk.ts';
import type { AuthenticatedState } from '../intake/http/authenticate.ts';

/** Answers the requests of one path and method. */
export type Answer = Middleware<AuthenticatedState>;

/** One endpoint of the read API. */
export interface Endpoint {
  /** As in openapi.yaml: with a trailing slash, and ids in braces. */
  readonly path: string;
  /** The router's pattern, if a part of the path may hold slashes. */
  readonly pattern?: string;
  /** Default: GET and HEAD. Others write their own entry in the access log. */
  readonly method?: 'PUT' | 'POST' | 'DELETE';
  /** The scopes of tokens that may use it. Default: `read`. */
  readonly scopes?: readonly Scope[];
  readonly answer: Answer;
  /** The limit that applies: of open streams. Default: of requests. */
  readonly limit?: 'streams';
  /** True if its answer has texts of events, which need more memory. */
  readonly texts?: true;
  /** True if its answer is an export, for the access log. */
  readonly exports?: true;
}
