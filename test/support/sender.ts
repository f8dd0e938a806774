import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Events of one request. */
const bulk = 50;

const automation = '0190a0b0-0000-7000-8000-000000000001';

/** Sends a request with several events. */
type Send = (events: object[]) => Promise<{ status: number }>;

/** Sends events at a constant rate, each with a mark of its own. */
export class Sender implements AsyncDisposable {
  /** The marks of those that got a 201. */
  readonly accepted: string[] = [];
  readonly #name = randomUUID();
  readonly #sending: Promise<void>;
  #stopped = false;
  #sent = 0;

  /** @param rate events a second. */
  constructor(rate: number, send: Send) {
    this.#sending = this.#sendAll(rate, send);
  }

  /** Sends no more, and resolves when all answers are there. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #sendAll(rate: number, send: Send): Promise<void> {
    const begun = performance.now();
    const answers: Promise<void>[] = [];
    while (!this.#stopped) {
      answers.push(this.#sendOne(send));
      const dueMs = (this.#sent * 1_000) / rate;
      await sleep(Math.max(0, begun + dueMs - performance.now()));
    }
    await Promise.all(answers);
  }

  async #sendOne(send: Send): Promise<void> {
    const marks = Array.from({ length: bulk }, () => `${this.#name} ${(this.#sent += 1)}`);
    const { status } = await send(
      marks.map((description, index) => ({
        automation_id: automation,
        execution_id: `run ${index}`,
        event: 'EVENT',
        description,
      })),
    );
    if (status === 201) this.accepted.push(...marks);
  }
}
