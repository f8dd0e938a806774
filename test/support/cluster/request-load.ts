import { randomUUID } from 'node:crypto';
import type { Answer } from '../api-client.ts';
import type { Ingest } from './ingest.ts';

/**
 * Callers that never pause, with a token that nobody touches: each of their answers should be 200
 * or 201.
 */
export class RequestLoad {
  /** Answers by status. */
  readonly statuses = new Map<number, number>();
  #running = true;
  readonly #callers: Promise<void>[];

  constructor(ingest: Ingest, token: string, callers = 4) {
    const ping = (): Promise<Answer> => ingest.ping(token);
    const register = (): Promise<Answer> =>
      ingest.api.register({ automation_id: randomUUID(), execution_id: randomUUID(), event: 'START' }, { token });
    this.#callers = Array.from({ length: callers }, (_, index) => this.#call(index % 2 === 0 ? ping : register));
  }

  /**
   * Ends the load; resolves with how many requests were answered well, and how often each other
   * status came.
   */
  async stop(): Promise<{ good: number; bad: Record<string, number> }> {
    this.#running = false;
    await Promise.all(this.#callers);
    const entries = [...this.statuses];
    const good = entries.filter(([status]) => isGood(status)).reduce((sum, [, count]) => sum + count, 0);
    return { good, bad: Object.fromEntries(entries.filter(([status]) => !isGood(status))) };
  }

  async #call(send: () => Promise<Answer>): Promise<void> {
    while (this.#running) {
      const status = await send().then(
        (answer) => answer.status,
        () => 0,
      );
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    }
  }
}

function isGood(status: number): boolean {
  return status === 200 || status === 201;
}
