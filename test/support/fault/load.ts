import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Automations } from './automations.ts';
import { Ledger, type Attempt, type Body, type Entry } from './ledger.ts';
import { Random } from './random.ts';

export interface LoadOptions {
  /** Where callers send to, on 127.0.0.1. */
  port: number;
  token: string;
  /** Events a second, before retries. */
  rate: number;
  seed: number;
  /**
   * Some callers with an Idempotency-Key send a request twice at once, and are told 409; true
   * unless set.
   */
  twins?: boolean;
  /** Longest that a caller waits for an answer, in ms. */
  patienceMs?: number;
  /** Makes every description up to 9,000 characters longer, of the kind that does not compress. */
  large?: boolean;
}

/** Longest that a caller waits for an answer unless told otherwise, in ms. */
const usualPatience = 10_000;

/** Executions under way past which no more are begun: callers, too, are finite. */
const maxExecutions = 2_000;

/** Automations on average: events of the scripts divided by scripts. */
const eventsPerExecution = 3.5;

/**
 * Callers as they are: they retry what is ambiguous, some with an Idempotency-Key, and some give up
 * after a while.
 */
export class Load {
  readonly ledger = new Ledger();
  readonly automations: Automations;
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 400 });
  readonly #underWay = new Set<Promise<void>>();
  readonly #waitingSince = new Set<{ begun: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.automations = new Automations(this.#random, options.large ?? false);
  }

  start(): void {
    const tick = 20;
    let due = 0;
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      due += ((now - last) / 1_000) * (this.#options.rate / eventsPerExecution);
      last = now;
      for (; due >= 1; due -= 1) if (this.#underWay.size < maxExecutions) this.#begin();
      due = Math.min(due, 1);
    }, tick);
  }

  /** Starts no more executions, and resolves when every execution has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    this.#agent.destroy();
  }

  /**
   * When the oldest request without an answer was begun (`performance.now()`); Infinity when there
   * is none.
   */
  oldestUnderWay(): number {
    let oldest = Infinity;
    for (const { begun } of this.#waitingSince) oldest = Math.min(oldest, begun);
    return oldest;
  }

  #begin(): void {
    const playing = this.#play(this.automations.nextExecution());
    this.#underWay.add(playing);
    void playing.finally(() => this.#underWay.delete(playing));
  }

  async #play(steps: Body[][]): Promise<void> {
    for (const step of steps) {
      await Promise.all(step.map((body) => this.#register(body)));
      await sleep(this.#random.int(0, 200));
    }
  }

  async #register(body: Body): Promise<void> {
    const key = this.#random.chance(0.3) ? randomUUID() : undefined;
    const entry = this.ledger.open(body, key);
    const patient = this.#random.chance(0.7);
    // A client whose first try is slow may send a second one beside it; the key is what makes that
    // safe.
    const twins = (this.#options.twins ?? true) && key !== undefined && this.#random.chance(0.1) ? 2 : 1;
    await Promise.all(Array.from({ length: twins }, () => this.#retry(entry, patient ? 60 : 4)));
  }

  async #retry(entry: Entry, tries: number): Promise<void> {
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const { verdict } = await this.#send(entry);
      if (verdict !== 'ambiguous') return;
      await sleep(Math.min(200 * 2 ** attempt, 2_000) * (0.5 + this.#random.next()));
    }
  }

  #send(entry: Entry): Promise<Attempt> {
    const { port, token, patienceMs = usualPatience } = this.#options;
    const content = JSON.stringify(entry.body);
    const begun = performance.now();
    const waiting = { begun };
    this.#waitingSince.add(waiting);
    return new Promise((resolve) => {
      let over = false;
      const end = (status: number, answer: string): void => {
        if (over) return;
        over = true;
        this.#waitingSince.delete(waiting);
        resolve(this.ledger.record(entry, { begun, ended: performance.now(), status }, answer));
      };
      const outgoing = request({
        port,
        host: '127.0.0.1',
        agent: this.#agent,
        method: 'POST',
        path: '/v1/register/',
        headers: {
          token,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(content),
          ...(entry.idempotencyKey !== undefined && { 'idempotency-key': entry.idempotencyKey }),
        },
        timeout: patienceMs,
      });
      outgoing.on('timeout', () => outgoing.destroy());
      outgoing.on('error', () => end(0, ''));
      outgoing.on('response', (response) => {
        text(response).then(
          (answer) => end(response.statusCode ?? 0, answer),
          () => end(0, ''),
        );
      });
      outgoing.end(content);
    });
  }
}
