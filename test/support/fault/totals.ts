import { flawless, type Audit } from './audit.ts';
import type { Ledger } from './ledger.ts';
import { describeEpisode, type Episode } from './plan.ts';

/** The limit of the promise: 201s resume this soon after a single fault has ended, in ms. */
export const recoveryLimit = 5_000;

/** The figures of an audit that are added up. */
const audited = { ...flawless, rows: 0, executions: 0, withoutReceipt: 0 };

/** The sum of all rounds of a campaign. */
export class Totals {
  readonly faults = new Map<string, number>();
  readonly findings: string[] = [];
  /** Processes that ended by themselves. */
  crashes = 0;
  /** Processes that ran and did nothing. */
  stuck = 0;
  receipts = 0;
  #falselyMissing = 0;
  #episodes = 0;
  #requests = 0;
  #unavailable = 0;
  #unanswered = 0;
  readonly #audited = { ...audited };
  /** From the end of a fault to flawless answers, in ms: after a fault alone, and after two. */
  #worstRecoveryMs = 0;
  #worstRecoveryOfPairsMs = 0;
  #worstRecoveryAfter = '';
  #worstDrainMs = 0;
  #slowest503Ms = 0;

  addEpisode(episode: Episode, recoveryMs: number): void {
    this.#episodes += 1;
    for (const { kind } of episode) this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
    if (episode.length > 1) this.#worstRecoveryOfPairsMs = Math.max(this.#worstRecoveryOfPairsMs, recoveryMs);
    else if (recoveryMs > this.#worstRecoveryMs) {
      this.#worstRecoveryMs = recoveryMs;
      this.#worstRecoveryAfter = describeEpisode(episode);
    }
  }

  /** Adds a round: what callers got, what the audit found, and how long the queue took to drain. */
  addRound(ledger: Ledger, found: Audit, drainMs: number): void {
    this.receipts += ledger.count(201);
    this.#requests += ledger.samples.length;
    this.#unavailable += ledger.count(503);
    this.#unanswered += ledger.count(0);
    for (const figure of Object.keys(audited) as (keyof typeof audited)[]) this.#audited[figure] += found[figure];
    this.#slowest503Ms = Math.max(this.#slowest503Ms, ledger.slowest503Ms);
    this.#worstDrainMs = Math.max(this.#worstDrainMs, drainMs);
    this.findings.push(...found.findings);
  }

  /** Adds runs that were called missing although they had started or were refused; in words. */
  addFalselyMissing(findings: readonly string[]): void {
    this.#falselyMissing += findings.length;
    this.findings.push(...findings.slice(0, 5));
  }

  /** The figures that break a promise; undefined when all of them are good. */
  broken(): string | undefined {
    const { crashes, stuck } = this;
    const { lost, doubled, wrong, unexpected, invalidAnswers } = this.#audited;
    const falselyMissing = this.#falselyMissing;
    const bad = { lost, doubled, wrong, falselyMissing, unexpected, invalidAnswers, crashes, stuck };
    const good = Object.values(bad).every((count) => count === 0) && this.#worstRecoveryMs <= recoveryLimit;
    return good ? undefined : JSON.stringify({ ...bad, worstRecoveryMs: Math.round(this.#worstRecoveryMs) });
  }

  /** All figures, in Markdown. */
  table(run: { minutes: number; rate: number; seed: number }): string {
    const audited = this.#audited;
    const faults = [...this.faults].sort(([a], [b]) => (a < b ? -1 : 1));
    const injected = faults.reduce((sum, [, count]) => sum + count, 0);
    const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
    return [
      `| ${run.minutes} minutes at ${run.rate} events/s, seed ${run.seed} | |`,
      '| --- | ---: |',
      `| faults injected | ${injected} in ${this.#episodes} episodes |`,
      ...faults.map(([kind, count]) => `| – ${kind} | ${count} |`),
      `| requests | ${this.#requests} |`,
      `| 201 | ${this.receipts} |`,
      `| 503 | ${this.#unavailable} |`,
      `| no answer | ${this.#unanswered} |`,
      `| events stored | ${audited.rows} |`,
      `| – of them without a receipt (the answer was ambiguous) | ${audited.withoutReceipt} |`,
      `| executions | ${audited.executions} |`,
      `| **lost** | **${audited.lost}** |`,
      `| **doubled** | **${audited.doubled}** |`,
      `| **wrong outcomes** | **${audited.wrong}** |`,
      `| **runs falsely called missing** | **${this.#falselyMissing}** |`,
      `| rows or dead letters that nobody sent | ${audited.unexpected} |`,
      `| answers that may not be given | ${audited.invalidAnswers} |`,
      `| processes that ended by themselves | ${this.crashes} |`,
      `| processes that ran and did nothing | ${this.stuck} |`,
      `| worst time to recover from one fault | ${seconds(this.#worstRecoveryMs)} (${this.#worstRecoveryAfter}) |`,
      `| worst time to recover from two at once | ${seconds(this.#worstRecoveryOfPairsMs)} |`,
      `| worst time to drain after a round | ${seconds(this.#worstDrainMs)} |`,
      `| slowest 503 | ${seconds(this.#slowest503Ms)} |`,
    ].join('\n');
  }
}
