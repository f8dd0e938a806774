import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../until.ts';
import type { Fault } from './fault.ts';
import type { Load } from './load.ts';
import { describeEpisode, faultTypes, type Episode } from './plan.ts';
import { Punctual, punctualAutomation } from './punctual.ts';
import { slotNames, System, type SlotName } from './system.ts';
import { Totals } from './totals.ts';

export interface CampaignOptions {
  seed: number;
  /** Events a second. */
  rate: number;
  echo?: boolean;
}

/** A pod that does nothing for this long under load, without a fault, is stuck. In ms. */
const stuckAfter = 90_000;

/** How long the answers must be flawless until the system counts as recovered, in ms. */
const calm = 1_500;

/** Workers look every second for days to forget: one with a wrong clock finds some. */
const forgetful = { RETENTION_DAYS: '90', MAINTENANCE_INTERVAL_MS: '1000' };

/** Longest wait for that, in ms. */
const longestRecovery = 60_000;

/**
 * Load and faults in rounds. After each the load ends, the queue drains, and the ledger is compared
 * with Postgres.
 */
export class Campaign {
  readonly system: System;
  readonly totals = new Totals();
  readonly #options: CampaignOptions;
  #rounds = 0;
  #load: Load | undefined;
  #punctual: Punctual | undefined;

  private constructor(system: System, options: CampaignOptions) {
    this.system = system;
    this.#options = options;
  }

  static async start(options: CampaignOptions): Promise<Campaign> {
    const system = await System.start({ worker: forgetful, tokenApi: true, automations: punctualAutomation });
    system.timeline.echo = options.echo ?? false;
    system.timeline.note(`seed ${options.seed}`);
    return new Campaign(system, options);
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
    this.#load = this.system.startLoad({ rate, seed: seed + this.#rounds });
    this.#punctual = new Punctual(this.system);
  }

  /**
   * Injects the faults of an episode that this machine can inject, and waits for flawless answers.
   * Resolves with the time to recover, in ms: from the end of the last fault to the last request
   * begun that got no receipt, or else to the first receipt.
   */
  async inject(all: Episode): Promise<number> {
    const load = this.#load;
    if (load === undefined) throw new Error('no round has begun');
    const missing = this.missing();
    const episode = all.filter(({ kind }) => !missing.has(kind));
    if (episode.length === 0) return 0;
    const { timeline } = this.system;
    timeline.note(describeEpisode(episode));
    await Promise.all(episode.map((fault) => this.#strike(load, fault)));
    const ended = performance.now();
    const recovery = await until('recovered', () => recoveryOf(load, ended), longestRecovery).catch(() => Infinity);
    timeline.note(`  recovered ${Math.round(recovery)} ms after the end of it`);
    this.totals.addEpisode(episode, recovery);
    return recovery;
  }

  async #strike(load: Load, fault: Fault): Promise<void> {
    await sleep(fault.afterMs);
    const heal = await faultTypes[fault.kind]?.inject({ system: this.system, load }, fault);
    await sleep(fault.holdMs);
    await heal?.();
  }

  /** Ends the load, waits for the queue to drain and compares the ledger with Postgres. */
  async settle(): Promise<void> {
    const { system, totals } = this;
    const load = this.#load;
    this.#load = undefined;
    if (load === undefined) return;
    await Promise.all(slotNames.map((slot) => this.#works(slot)));
    await this.#punctual?.stop();
    const { found, drainMs } = await system.settle(load);
    totals.addRound(load.ledger, found, drainMs);
    totals.addFalselyMissing((await this.#punctual?.falselyMissing()) ?? []);
    totals.crashes = system.crashes;
    const { findings: _, ...figures } = found;
    system.timeline.note(`round ${this.#rounds}: drained in ${Math.round(drainMs)} ms; ${JSON.stringify(figures)}`);
  }

  /** What broke a promise, with the seed and what happened; undefined when nothing did. */
  broken(): string | undefined {
    const figures = this.totals.broken();
    if (figures === undefined) return undefined;
    const where = `logs are in ${this.system.folder}; what happened:`;
    const { seed } = this.#options;
    return [`SEED=${seed}: ${figures}`, ...this.totals.findings, where, this.system.timeline.tail()].join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all([this.#load?.stop(), this.#punctual?.stop()]);
    await this.system.stop(this.broken() !== undefined);
  }

  /** Each pod must be seen at work under load: the others must not hide one that is stuck. */
  async #works(slot: SlotName): Promise<void> {
    const metric = slot.startsWith('ingest') ? 'runledger_events_accepted_total' : 'runledger_events_stored_total';
    const pod = this.system.pod(slot);
    const read = () => pod.metric(metric).catch(() => undefined);
    try {
      const before = await until(`metrics of ${slot}`, read, stuckAfter);
      await until(`${slot} works`, async () => (await read()) !== before, stuckAfter);
    } catch {
      this.totals.stuck += 1;
      this.totals.findings.push(`stuck: ${slot} has done nothing for ${stuckAfter} ms under load`);
    }
  }
}

/** The time to recover, once the answers have been flawless for long enough. In ms. */
function recoveryOf(load: Load, ended: number): number | undefined {
  const now = performance.now();
  const since = load.ledger.since(ended);
  const failures = since.filter(({ status }) => status === 0 || status >= 500);
  const lastFailure = failures.reduce((latest, { begun }) => Math.max(latest, begun), ended);
  const firstReceipt = since.find(({ status }) => status === 201)?.ended ?? Infinity;
  const hanging = load.oldestUnderWay() < now - calm;
  if (hanging || now - Math.max(lastFailure, firstReceipt) < calm) return undefined;
  return (failures.length > 0 ? lastFailure : firstReceipt) - ended;
}
