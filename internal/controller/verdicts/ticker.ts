import { Repeating } from '../../kit/async/repeating.ts';
import { settledWithin } from '../../kit/async/settled-within.ts';
import { Schedules } from '../../expectation/schedules.ts';
import type { Blindness } from '../../expectation/transition.ts';
import { verdictKinds } from '../../expectation/verdict.ts';
import { Apart } from '../../store/apart.ts';
import type { Database } from '../../store/database.ts';
import { isOfStatement } from '../../store/errors.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { describeError, type Logger } from '../../kit/telemetry/logger.ts';
import { countVerdicts, countVerdictsOfAutomations } from './count-verdicts.ts';
import { blindAfterMs, tick, type TickOptions, type TickReport } from './tick.ts';
import type { TickListener } from './tick-listener.ts';
import type { QueueReading } from './watermark.ts';

/** Time between two ticks, in ms. */
const intervalMs = 5_000;

/** Pause before the work of an organization is retried after a failure, in ms. */
const defaultAgainMs = 30_000;

/**
 * After a tick that evaluated this many automations, the process collects its garbage. Otherwise V8
 * keeps it for minutes, which doubles the memory of the process.
 */
const largeTick = 1_000;

/** How long `stop` waits for a tick, in ms. Closing the database ends a tick that hangs. */
const stopMs = 5_000;

export interface TickerOptions {
  db: Database;
  /** Rejects with one sentence while the queue cannot be read. */
  readQueue: () => Promise<QueueReading>;
  prepare?: TickOptions['prepare'];
  actKeys?: TickOptions['actKeys'];
  listeners: readonly TickListener[];
  /** Maximum number of automations with their own gauge. */
  metricsAutomations: number;
  /** Pause before the work of an organization is retried after a failure, in ms. */
  againMs?: number;
  metrics: ControllerMetrics;
  logger: Logger;
}

/** Ticks every few seconds. Any number of processes may run it: each tick takes a lock. */
export class Ticker {
  readonly name = 'ticker';
  readonly #options: TickerOptions;
  readonly #schedules = new Schedules();
  readonly #ticks = new Repeating(() => this.#run());
  /** The last tick that reached Postgres: its time by the monotonic clock, and its lag, in ms. */
  #reached = { at: performance.now(), lagMs: 0 };
  /** Organizations whose work failed → when it is retried, by the monotonic clock, in ms. */
  #suspects = new Map<string, number>();
  #problem: string | undefined;

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  /** Why the last tick failed; undefined if it succeeded. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Starts in the background, even while Redis or Postgres is unavailable. */
  async start(): Promise<void> {
    this.#ticks.start();
  }

  async stop(): Promise<void> {
    await settledWithin(stopMs, this.#ticks.stop());
  }

  async #run(): Promise<number> {
    await this.runOnce();
    return intervalMs;
  }

  /** Runs one tick. Never rejects. */
  async runOnce(): Promise<void> {
    const { metrics, logger } = this.#options;
    const begun = performance.now();
    try {
      const report = await this.#tick();
      this.#problem = undefined;
      if (report === undefined) {
        this.#reached = { ...this.#reached, at: performance.now() };
        return;
      }
      metrics.seconds.observe((performance.now() - begun) / 1_000);
      metrics.evaluations.inc(report.evaluated);
      metrics.lag.set(report.lagMs / 1_000);
      this.#reached = { at: performance.now(), lagMs: report.lagMs };
      await this.#announce(report.blindness);
      await this.#measure();
      // Needs Node's option `--expose-gc`, which the image sets.
      if (report.evaluated >= largeTick) globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
    } catch (error) {
      this.#problem = `The last tick failed: ${describeError(error).message}`;
      metrics.failures.inc();
      logger.warn({ error }, 'tick failed, retrying soon');
      await this.#announce(this.#blindnessWithoutPostgres());
    }
  }

  /** Reads Redis first: whatever has left the queue by then is in Postgres. */
  async #tick(): Promise<TickReport | undefined> {
    const { db, readQueue, actKeys, prepare, listeners, logger } = this.#options;
    const queue = await readQueue().catch((error: unknown) => {
      logger.warn({ error }, 'the queue cannot be read: the watermark does not move');
      return { reason: describeError(error).message };
    });
    const options: TickOptions = {
      queue,
      clocks: (postgres) => ({ controller: Date.now(), postgres }),
      schedules: this.#schedules,
      actKeys,
      prepare,
      listeners,
    };
    if (this.#suspects.size === 0) {
      try {
        return await tick(db, options);
      } catch (error) {
        if (!isOfStatement(error)) throw error;
        logger.warn({ error }, 'tick failed, repeating it for each organization by itself');
      }
    }
    return this.#tickApart(options);
  }

  /** Ticks in such a way that an organization whose work fails stops no other. */
  async #tickApart(options: TickOptions): Promise<TickReport | undefined> {
    const { db, metrics, logger, againMs = defaultAgainMs } = this.#options;
    const now = performance.now();
    const waiting = [...this.#suspects].filter(([, at]) => at > now).map(([organization]) => organization);
    const turns = new Apart(this.#suspects.keys(), waiting);
    const report = await tick(db, { ...options, turns });
    if (report === undefined) return undefined;
    const before = this.#suspects;
    this.#suspects = new Map();
    for (const [organization, error] of turns.setAside) {
      const at = before.get(organization) ?? 0;
      this.#suspects.set(organization, error === undefined ? at : now + againMs);
      if (error !== undefined) logger.error({ error, organization }, 'organization set aside, its verdicts wait');
    }
    for (const organization of before.keys()) {
      if (!this.#suspects.has(organization)) logger.info({ organization }, 'organization is no longer set aside');
    }
    metrics.setAside.set(this.#suspects.size);
    return report;
  }

  /** The blindness while Postgres, whose row would say since when, is unavailable. */
  #blindnessWithoutPostgres(): Blindness | undefined {
    const awayMs = performance.now() - this.#reached.at;
    const lagMs = this.#reached.lagMs + awayMs;
    this.#options.metrics.lag.set(lagMs / 1_000);
    if (lagMs <= blindAfterMs) return undefined;
    return { since: Date.now() - awayMs, reason: this.#problem ?? 'Ticks fail.' };
  }

  async #announce(blindness: Blindness | undefined): Promise<void> {
    const { listeners, logger } = this.#options;
    for (const listener of listeners) {
      await listener.announce(blindness).catch((error: unknown) => logger.error({ error }, 'telling receivers failed'));
    }
  }

  async #measure(): Promise<void> {
    const { db, metrics, metricsAutomations } = this.#options;
    const counts = await countVerdicts(db);
    for (const kind of verdictKinds) metrics.verdicts.set({ kind }, counts.get(kind) ?? 0);
    if (metricsAutomations === 0) return;
    const automations = await countVerdictsOfAutomations(db, metricsAutomations);
    metrics.automations.reset();
    for (const { organization, automation, count } of automations) {
      metrics.automations.set({ organization, automation }, count);
    }
  }
}
