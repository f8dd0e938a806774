import { digestOf } from './token-entry.ts';
import type { KnownToken, TokenSet } from './token-set.ts';

/**
 * What a token says of its bearer. `not-loaded`: nobody can tell yet, and a caller must not be told
 * 401. `internal/api/authenticate.ts` declares the same shape, as neither folder imports the other.
 */
export type Authentication = KnownToken | { readonly status: 'unknown' } | { readonly status: 'not-loaded' };

/**
 * Where the organizations' tokens come from. A component: `stop` may be called twice, and before
 * `start`.
 */
export interface TokenSource {
  readonly name: string;
  /**
   * Resolves when the source is at work, which need not mean that its tokens are loaded: see
   * `unready`.
   */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whose token this is, at once and from memory. */
  authenticate(token: string): Authentication;
  /**
   * Why `authenticate` cannot tell yet, in a sentence for the readiness probe; undefined as soon as
   * it can.
   */
  unready(): string | undefined;
}

const unknown: Authentication = { status: 'unknown' };
const notLoaded: Authentication = { status: 'not-loaded' };

/** Looks a token up by its digest in a set, or in none when nothing was loaded yet. */
export function authenticateIn(set: TokenSet | undefined, token: string): Authentication {
  if (set === undefined) return notLoaded;
  return set.tokens.get(digestOf(token)) ?? unknown;
}
