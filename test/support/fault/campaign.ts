import { audit, type Audit } from './audit.ts';
import { runEpisode } from './episode.ts';
import type { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { faultTypes, type Episode } from './plan.ts';
import { until } from '../until.ts';
import { organization, slotNames, System, token, type SystemOptions } from './system.ts';
import { Timeline } from './timeline.ts';
import { noTotals } from './totals.ts';

export interface CampaignOptions extends Partial<SystemOptions> {
  seed: number;
  /** Events a second. */
  rate: number;
  echo?: boolean;
}

/**
 * A pod that does nothing for so long under load, with nothing wrong around it, needs a restart by
 * hand. In ms.
 */
const stuckAfter = 90_000;

/** What is added up over the rounds. */
const audited = [
  'rows',
  'executions',
  'withoutReceipt',
  'lost',
  'doubled',
  'wrong',
  'unexpected',
  'invalidAnswers',
] as const;

/** The limit of the promise: 201s resume so long after a single fault has ended, in ms. */
export const recoveryLimit = 5_000;

/**
 * Load and faults in rounds. After each the load ends, the queue drains, and the ledger is compared
 * with Postgres.
 */
export class Campaign {
  readonly system: System;
  readonly timeline: Timeline;
  readonly totals = noTotals();
  readonly #options: CampaignOptions;
  #rounds = 0;
  #load: Load | undefined;

  private constructor(system: System, options: CampaignOptions) {
    this.system = system;
    this.timeline = system.timeline;
    this.#options = options;
  }

  static async start(options: CampaignOptions): Promise<Campaign> {
    const timeline = options.timeline ?? new Timeline(options.echo ?? false);
    timeline.note(`seed ${options.seed}`);
    return new Campaign(await System.start({ ...options, timeline }), options);
  }

  /** Kinds of fault that this machine cannot inject, each with the reason. */
  missing(): Map<string, string> {
    const reasons = Object.entries(faultTypes).map(([kind, type]) => [kind, type.unavailable?.(this.system)] as const);
    return new Map(reasons.flatMap(([kind, reason]) => (reason === undefined ? [] : [[kind, reason]])));
  }

  /** Begins the load of a round. */
  begin(): void {
    const { rate, seed } = this.#options;
    this.#rounds += 1;
    this.#load = new Load({ port: this.system.front.port, token, rate, seed: seed + this.#rounds });
    this.#load.start();
  }

  /**
   * Injects the faults of an episode that this machine can inject. Resolves with the time to
   * recover, in ms.
   */
  async inject(all: Episode): Promise<number> {
    if (this.#load === undefined) throw new Error('no round has begun');
    const missing = this.missing();
    const episode = all.filter(({ kind }) => !missing.has(kind));
    if (episode.length === 0) return 0;
    const recovery = await runEpisode({ system: this.system, load: this.#load }, episode);
    this.#count(episode, recovery);
    return recovery;
  }

  /** Ends the load, waits for the queue to drain and compares the ledger with Postgres. */
  async settle(): Promise<void> {
    const load = this.#load;
    this.#load = undefined;
    if (load === undefined) return;
    await this.#everyPodWorks();
    await load.stop();
    const drain = await this.system.drained();
    this.#add(load.ledger, await audit(load.ledger, this.system, load.automations.ids, organization), drain);
  }

  /** A sentence when a promise was broken, with the seed and what happened; undefined otherwise. */
  broken(): string | undefined {
    const { lost, doubled, wrong, unexpected, invalidAnswers, crashes, stuck, worstRecoveryMs, findings } = this.totals;
    const late = worstRecoveryMs > recoveryLimit;
    if (lost + doubled + wrong + unexpected + invalidAnswers + crashes + stuck === 0 && !late) return undefined;
    const figures = {
      lost,
      doubled,
      wrong,
      unexpected,
      invalidAnswers,
      crashes,
      stuck,
      worstRecoveryMs: Math.round(worstRecoveryMs),
    };
    return [
      `SEED=${this.#options.seed}: ${JSON.stringify(figures)}`,
      ...findings,
      `logs are in ${this.system.folder}; what happened:`,
      this.timeline.tail(),
    ].join('\n');
  }

  async stop(): Promise<void> {
    await this.#load?.stop();
    await this.system.stop(this.broken() !== undefined);
  }

  /**
   * Another pod doing the work must not hide one that has stopped to: each must be seen at it,
   * while the load continues.
   */
  async #everyPodWorks(): Promise<void> {
    await Promise.all(
      slotNames.map(async (slot) => {
        const figure = slot.startsWith('ingest') ? 'runledger_events_accepted_total' : 'runledger_events_stored_total';
        const read = () =>
          this.system
            .pod(slot)
            .metric(figure)
            .catch(() => undefined);
        const before = await until(`metrics of ${slot}`, read, stuckAfter);
        await until(
          `${slot} works again`,
          async () => ((await read()) === before ? undefined : true),
          stuckAfter,
        ).catch(() => {
          this.totals.stuck += 1;
          this.totals.findings.push(`stuck: ${slot} has done nothing for ${stuckAfter} ms under load`);
        });
      }),
    );
  }

  #count(episode: Episode, recovery: number): void {
    const { totals } = this;
    totals.episodes += 1;
    for (const { kind } of episode) totals.faults.set(kind, (totals.faults.get(kind) ?? 0) + 1);
    if (episode.length > 1) totals.worstRecoveryOfPairsMs = Math.max(totals.worstRecoveryOfPairsMs, recovery);
    else if (recovery > totals.worstRecoveryMs) {
      totals.worstRecoveryMs = recovery;
      totals.worstRecoveryAfter = episode.map(({ kind, place }) => `${kind} (${place})`).join();
    }
  }

  #add(ledger: Ledger, found: Audit, drain: number): void {
    const { totals } = this;
    const receipts = ledger.count((status) => status === 201);
    totals.requests += ledger.count(() => true);
    totals.receipts += receipts;
    totals.unavailable += ledger.count((status) => status === 503);
    totals.unanswered += ledger.count((status) => status === 0 || status === 502 || status === 504);
    for (const figure of audited) totals[figure] += found[figure];
    totals.slowest503Ms = Math.max(totals.slowest503Ms, ledger.slowest503Ms);
    totals.worstDrainMs = Math.max(totals.worstDrainMs, drain);
    totals.findings.push(...found.findings);
    totals.crashes = this.system.crashes;
    const verdict = ['lost', 'doubled', 'wrong', 'unexpected', 'invalidAnswers'] as const;
    this.timeline.note(
      `round ${this.#rounds}: ${receipts} receipts, ${found.rows} rows, drained in ${Math.round(drain)} ms; ` +
        verdict.map((figure) => `${figure} ${found[figure]}`).join(', '),
    );
  }
}
