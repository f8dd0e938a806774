import { digestOf, type Scope } from './token-entry.ts';
import type { KnownToken, TokenSet } from './token-set.ts';

/**
 * The owner of a token. `not-loaded`: the token set has never been read, and a 401 would be wrong.
 */
export type Authentication = KnownToken | { readonly status: 'unknown' } | { readonly status: 'not-loaded' };

/** A source of the organizations' tokens. `stop` is safe to repeat, and before `start`. */
export interface TokenSource {
  readonly name: string;
  /** Resolves when the source works. Its tokens may load later; see `unready`. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Returns the owner of a token, from memory. */
  authenticate(token: string): Authentication;
  /** The same by the digest of a token: its SHA-256 in lower-case hexadecimal. */
  authenticateDigest(digest: string): Authentication;
  /** The scopes of an organization's tokens in force, by digest. */
  tokensOf(organization: string): ReadonlyMap<string, Scope>;
  /** The organizations with a usable token, sorted; empty while the tokens are not loaded. */
  organizations(): readonly string[];
  /** One sentence for the readiness probe while the tokens are not loaded; undefined afterwards. */
  unready(): string | undefined;
}

const unknown: Authentication = { status: 'unknown' };
const notLoaded: Authentication = { status: 'not-loaded' };

/** Looks up a token by its digest. An undefined set is not loaded. */
export function authenticateIn(set: TokenSet | undefined, token: string): Authentication {
  return authenticateDigestIn(set, digestOf(token));
}

/** Looks up the digest of a token. An undefined set is not loaded. */
function authenticateDigestIn(set: TokenSet | undefined, digest: string): Authentication {
  if (set === undefined) return notLoaded;
  return set.tokens.get(digest) ?? unknown;
}

/** Answers from a token set; there is none until the first one is loaded. */
export abstract class HeldTokens {
  protected set: TokenSet | undefined;

  authenticate(token: string): Authentication {
    return authenticateIn(this.set, token);
  }

  authenticateDigest(digest: string): Authentication {
    return authenticateDigestIn(this.set, digest);
  }

  tokensOf(organization: string): ReadonlyMap<string, Scope> {
    const own = Array.from(this.set?.tokens ?? []).filter(([, token]) => token.organization === organization);
    return new Map(own.map(([digest, { scope }]) => [digest, scope]));
  }

  organizations(): readonly string[] {
    return this.set?.organizations ?? [];
  }
}
