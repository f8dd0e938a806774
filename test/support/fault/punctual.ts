import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers/promises';
import { until } from '../until.ts';
import type { System } from './system.ts';
import { organization } from './tokens.ts';

/** Longest time from one start to the next, in ms, and the grace after it. */
const [everyMs, graceMs] = [10_000, 0];

/** Between two starts, in ms. Each ingest gets every second one. */
const pauseMs = 1_000;

/** How long a caller waits for an answer, in ms. */
const patienceMs = 4_000;

const automation = '0190a0b0-0000-7000-8000-00000000fa17';

/** Declares the automation of the punctual caller. */
export const punctualAutomation = `
apiVersion: v1
kind: Namespace
metadata: { name: ${organization}, labels: { runledger.dev/organization: ${organization} } }
---
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: punctual, namespace: ${organization} }
spec: { automationId: ${automation}, expect: { every: ${everyMs / 1_000}s, grace: ${graceMs / 1_000}s } }
`;

/**
 * Starts a run every second and never repeats a request: what is refused is lost. So only what
 * Runledger knows of its own refusals keeps it from calling a run missing.
 */
export class Punctual {
  readonly #system: System;
  /** Starts that reached Runledger, by receipt or refusal; ms since the Unix epoch. */
  readonly #heard: number[] = [];
  readonly #stopping = new AbortController();
  readonly #playing: Promise<void>;
  readonly #sending = new Set<Promise<void>>();

  /** Starts. */
  constructor(system: System) {
    this.#system = system;
    this.#playing = this.#play();
  }

  /** Starts no more runs. Resolves when every start has its answer. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#playing;
    await Promise.all(this.#sending);
  }

  /**
   * After `stop`: resolves once the controller has found out that no run started any more. Each
   * other run that it called missing, or late once the next one had started, is false if a start
   * for it had reached Runledger; in words.
   */
  async falselyMissing(): Promise<string[]> {
    const last = Math.max(...this.#heard);
    const find = () =>
      this.#system.query<{ expected: string }>(
        `select facts->>'expected_at' as expected from alerts
         where automation_id = $1 and kind in ('missing', 'late') order by opened_at`,
        [automation],
      );
    const alerts = await until(
      'the run after the last one is missing',
      async () => {
        const found = await find().catch(() => []);
        return found.some(({ expected }) => Date.parse(expected) > last) && found;
      },
      120_000,
    );
    return alerts.flatMap(({ expected }) => {
      const at = Date.parse(expected);
      const start = this.#heard.find((time) => time > at - everyMs && time <= at + graceMs);
      if (start === undefined || at > last) return [];
      return `falsely missing: a run was expected at ${expected}, and one start came at ${new Date(start).toISOString()}`;
    });
  }

  async #play(): Promise<void> {
    let turn = 0;
    try {
      for await (const _ of setInterval(pauseMs, undefined, { signal: this.#stopping.signal })) {
        turn += 1;
        const sending = this.#start(turn % 2 === 0 ? 'ingest-1' : 'ingest-2');
        this.#sending.add(sending);
        void sending.finally(() => this.#sending.delete(sending));
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error;
    }
  }

  async #start(slot: 'ingest-1' | 'ingest-2'): Promise<void> {
    const { balancer } = this.#system;
    const body = { automation_id: automation, execution_id: randomUUID(), event: 'START', description: '' };
    const begun = Date.now();
    const { status } = await balancer.registerAt(this.#system.pod(slot), JSON.stringify(body), {}, patienceMs);
    if (status !== 0) this.#heard.push(begun);
  }
}
