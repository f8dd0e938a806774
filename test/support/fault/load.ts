import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Automations, eventsPerExecution } from './automations.ts';
import type { Balancer } from './balancer.ts';
import { Ledger, type Attempt, type Body, type Entry, type Sample } from './ledger.ts';
import { Messages } from './messages.ts';
import { Random } from './random.ts';

export interface LoadOptions {
  /** Events a second, before retries. */
  rate: number;
  seed: number;
  /** False: no caller sends a request with an Idempotency-Key twice at once, and is told 409. */
  twins?: boolean;
  /** Longest wait of a caller, in ms. Twice what the slowest 503 takes, unless set. */
  patienceMs?: number;
  /** Makes every description up to 9,000 characters longer, of the kind that does not compress. */
  large?: boolean;
}

/** Executions under way past which no more are begun: callers, too, are finite. */
const maxExecutions = 2_000;

/** Callers that retry ambiguous answers, some with an Idempotency-Key. Some give up in the end. */
export class Load {
  readonly ledger = new Ledger();
  readonly automations: Automations;
  /** Requests that become several events; only faults send some. */
  readonly messages = new Messages();
  readonly #balancer: Pick<Balancer, 'register'>;
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #playing = new Set<Promise<void>>();
  readonly #waitingSince = new Set<{ begun: number }>();
  readonly #timer: NodeJS.Timeout;
  #isAbandoned = false;

  /** Starts. */
  constructor(balancer: Pick<Balancer, 'register'>, options: LoadOptions) {
    this.#balancer = balancer;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.automations = new Automations(this.#random, options.large ?? false);
    let due = 0;
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      due += ((now - last) / 1_000) * (options.rate / eventsPerExecution);
      last = now;
      for (; due >= 1; due -= 1) if (this.#playing.size < maxExecutions) this.#begin();
    }, 20);
  }

  /** Starts no more executions, and resolves when every execution has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#playing);
  }

  /** After a failure: no request is repeated, so that `stop` does not wait for what never comes. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** Resolves when every execution under way has ended: nobody repeats a request of before then. */
  async underWayEnded(): Promise<void> {
    await Promise.all(this.#playing);
  }

  /** When the oldest request without an answer was begun (`performance.now()`), or Infinity. */
  oldestUnderWay(): number {
    return Math.min(...[...this.#waitingSince].map(({ begun }) => begun));
  }

  #begin(): void {
    const playing = this.#play(this.automations.nextExecution());
    this.#playing.add(playing);
    void playing.finally(() => this.#playing.delete(playing));
  }

  async #play(steps: Body[][]): Promise<void> {
    if (this.#random.chance(0.2)) return this.#registerBulk(steps.flat());
    for (const step of steps) {
      await Promise.all(step.map((body) => this.#register(body)));
      await sleep(this.#random.int(0, 200));
    }
  }

  async #register(body: Body): Promise<void> {
    const key = this.#random.chance(0.3) ? randomUUID() : undefined;
    const entry = this.ledger.open(body, key);
    const tries = this.#random.chance(0.7) ? 60 : 4;
    // A client whose first try is slow may send a second one beside it; the key makes that safe.
    const twins = (this.#options.twins ?? true) && key !== undefined && this.#random.chance(0.1);
    await Promise.all((twins ? [1, 2] : [1]).map(() => this.#retry(entry, tries)));
  }

  /** All events of an execution in one request, as a caller that was offline sends them. */
  async #registerBulk(bodies: Body[]): Promise<void> {
    const keyed = this.#random.chance(0.5);
    const entries = bodies.map((body) => this.ledger.open(body, keyed ? randomUUID() : undefined));
    const events = entries.map(({ body, idempotencyKey: idempotency_key }) => ({ ...body, idempotency_key }));
    const tries = this.#random.chance(0.7) ? 60 : 4;
    for (let attempt = 1; attempt <= tries && !this.#isAbandoned; attempt += 1) {
      const { sample, text } = await this.#post(JSON.stringify(events), {}, '/v1/register/bulk/');
      const parts = sample.status === 201 ? (JSON.parse(text) as unknown[]).map((part) => JSON.stringify(part)) : [];
      const attempts = entries.map((entry, index) => this.ledger.record(entry, sample, parts[index] ?? text));
      if (attempts.every(({ verdict }) => verdict !== 'ambiguous')) return;
      await this.#pause(attempt);
    }
  }

  async #pause(attempt: number): Promise<void> {
    await sleep(Math.min(200 * 2 ** attempt, 2_000) * (0.5 + this.#random.next()));
  }

  async #retry(entry: Entry, tries: number): Promise<void> {
    for (let attempt = 1; attempt <= tries && !this.#isAbandoned; attempt += 1) {
      const { verdict } = await this.#send(entry);
      if (verdict !== 'ambiguous') return;
      await this.#pause(attempt);
    }
  }

  async #send(entry: Entry): Promise<Attempt> {
    const headers = entry.idempotencyKey === undefined ? {} : { 'idempotency-key': entry.idempotencyKey };
    const { sample, text } = await this.#post(JSON.stringify(entry.body), headers);
    return this.ledger.record(entry, sample, text);
  }

  async #post(body: string, headers: Record<string, string>, path?: string): Promise<{ sample: Sample; text: string }> {
    const waiting = { begun: performance.now() };
    this.#waitingSince.add(waiting);
    const { patienceMs = 4_000 } = this.#options;
    const { status, body: text } = await this.#balancer.register(body, headers, patienceMs, path);
    this.#waitingSince.delete(waiting);
    return { sample: { ...waiting, ended: performance.now(), status }, text };
  }
}
