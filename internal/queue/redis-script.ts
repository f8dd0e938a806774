import { hash } from 'node:crypto';
import type { RedisClient } from './redis.ts';

/** A script sent by its digest; its text goes only to a Redis that does not know it. */
export class RedisScript {
  readonly #text: string;
  readonly #digest: string;

  constructor(text: string) {
    this.#text = text;
    this.#digest = hash('sha1', text);
  }

  /** Resolves with the reply, in which texts are buffers. */
  async run(
    redis: RedisClient,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    try {
      return await redis.callBuffer('evalsha', this.#digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.callBuffer('eval', this.#text, keys.length, ...keys, ...args);
    }
  }
}
