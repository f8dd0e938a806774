import type { SecretCache } from './secret-watch.ts';
import { mergeDigests, type SecretDigests, type TokenSet } from './token-set.ts';

/**
 * Rebuilds the token set from all Secrets after a change. Changes within the delay share one
 * rebuild.
 */
export class TokenSetBuilder implements SecretCache {
  readonly #settleMs: number;
  readonly #publish: (set: TokenSet) => void;
  #secrets: ReadonlyMap<string, SecretDigests> = new Map();
  #timer: NodeJS.Timeout | undefined;

  constructor(settleMs: number, publish: (set: TokenSet) => void) {
    this.#settleMs = settleMs;
    this.#publish = publish;
  }

  onList(secrets: ReadonlyMap<string, SecretDigests>): void {
    this.#secrets = secrets;
    this.#build();
  }

  onChange(): void {
    this.#timer ??= setTimeout(() => this.#build(), this.#settleMs);
  }

  /** Publishes pending changes at once. */
  flush(): void {
    if (this.#timer !== undefined) this.#build();
  }

  #build(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#publish(mergeDigests(this.#secrets.values()));
  }
}
