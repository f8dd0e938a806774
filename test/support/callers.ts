import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer, ApiClient } from './api-client.ts';
import type { RunningIngest } from './pipeline.ts';
import { figure } from './rows.ts';
import { until } from './until.ts';

export interface CallerAnswer {
  /** What the event carries in `description`, of its own. */
  mark: string;
  /** 0 when there was no answer. */
  status: number;
  /** When the answer was there, in ms of the monotonic clock. */
  at: number;
}

/** Sends an event of a caller, by its number. */
type Send = (event: Record<string, unknown>, caller: number) => Promise<Answer>;

/**
 * Callers that send one event after another without a pause, each with a mark of its own, and write
 * down every answer.
 */
export class Callers implements AsyncDisposable {
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

  /** Longest time between two answers 201, in ms. */
  get longestGapMs(): number {
    const times = this.answers.filter(({ status }) => status === 201).map(({ at }) => at);
    return Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  }

  /** Waits until they have got so many more answers with a status. */
  async more(status: number, count: number, withinMs?: number): Promise<void> {
    const wanted = (this.statuses[status] ?? 0) + count;
    const enough = (): boolean => (this.statuses[status] ?? 0) >= wanted;
    await until(`${count} more answers ${status}`, enough, withinMs);
  }

  /** Sends no more, and resolves when all answers are there. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#calling);
  }

  /** As {@link stop}, also for a test that fails. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #call(caller: number): Promise<void> {
    while (!this.#stopped) {
      const mark = `${this.#automation} ${(this.#sent += 1)}`;
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
      this.answers.push({ mark, status, at: performance.now() });
    }
  }
}

/**
 * Checks that each answer is 201, or a 503 because Redis did not answer in time, as on a busy
 * machine: not one is for another reason.
 */
export async function expectOnlyRedisRejects({ telemetry }: RunningIngest, ...all: Callers[]): Promise<void> {
  for (const { statuses } of all) expect(['201', '503']).to.include.members(Object.keys(statuses));
  const rejected = (labels = {}) => figure(telemetry.registry, 'runledger_rejections_total', labels);
  const ofRedis = (await rejected({ reason: 'redis-unreachable' })) + (await rejected({ reason: 'commit-failed' }));
  expect(await rejected(), 'no rejection for another reason').to.equal(ofRedis);
}
