import { randomUUID } from 'node:crypto';
import type { Answer, ApiClient } from './api-client.ts';

export interface CallerAnswer {
  /** What the event carries in `description`, of its own. */
  mark: string;
  /** 0 when there was no answer. */
  status: number;
  ms: number;
}

/** Sends an event of a caller, by its number. */
type Send = (event: Record<string, unknown>, caller: number) => Promise<Answer>;

/**
 * Callers that send one event after another without a pause, each with a mark of its own, and write
 * down every answer.
 */
export class Callers {
  readonly answers: CallerAnswer[] = [];
  readonly #send: Send;
  readonly #automation = randomUUID();
  readonly #calling: Promise<void>[];
  #stopped = false;
  #sent = 0;

  constructor(client: ApiClient, count: number, send: Send = (event) => client.register(event)) {
    this.#send = send;
    this.#calling = Array.from({ length: count }, (_, caller) => this.#call(caller));
  }

  /** Marks of the events that were answered with 201. */
  get accepted(): string[] {
    return this.answers.filter(({ status }) => status === 201).map(({ mark }) => mark);
  }

  /** How often each status was answered. */
  get statuses(): Record<number, number> {
    const counts: Record<number, number> = {};
    for (const { status } of this.answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  get slowestMs(): number {
    return Math.max(...this.answers.map(({ ms }) => ms));
  }

  /** Sends no more, and resolves when all answers are there. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#calling);
  }

  async #call(caller: number): Promise<void> {
    while (!this.#stopped) {
      const mark = `${this.#automation} ${(this.#sent += 1)}`;
      const sentAt = performance.now();
      const event = {
        automation_id: this.#automation,
        execution_id: `run ${caller}`,
        event: 'EVENT',
        description: mark,
      };
      const status = await this.#send(event, caller).then(
        (answer) => answer.status,
        () => 0,
      );
      this.answers.push({ mark, status, ms: performance.now() - sentAt });
    }
  }
}
