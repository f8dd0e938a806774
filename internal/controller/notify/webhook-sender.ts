import type { LookupFunction } from 'node:net';
import { Repeating } from '../../kit/async/repeating.ts';
import type { Database } from '../../store/database.ts';
import { isUnavailable } from '../../store/errors.ts';
import { isWaiting } from '../../store/parked-deliveries.ts';
import { sql } from '../../store/sql.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { NotifyMetrics } from './notify-metrics.ts';
import { attempt } from './attempt.ts';
import { claimDue, type Claim, type ClaimOptions, type Slots, type WebhookRef } from './claim.ts';
import { forbiddenAddresses } from './forbidden-addresses.ts';
import { GuardedAgent } from './guarded-agent.ts';
import { lookUp } from './look-up.ts';
import { giveUpOld, noteDelivered, noteFailed } from './note-result.ts';
import { parkLater } from './park.ts';

export interface WebhookSenderOptions {
  db: Database;
  /** The current secrets in a webhook's Secret; none if there is no such Secret. */
  secretsOf: (webhook: WebhookRef) => readonly string[];
  /** Lets webhooks with `allow_private` connect to private addresses. */
  allowPrivate: boolean;
  metrics: NotifyMetrics;
  logger: Logger;
  /** Certificates to trust instead of the system's, PEM. */
  ca?: string | undefined;
  /** Looks up the addresses of receivers. Default: as the system does. */
  lookup?: LookupFunction;
  timings?: Partial<WebhookTimings>;
}

export interface WebhookTimings {
  /** Maximum pause between two looks into the outbox, in ms. */
  intervalMs: number;
  /** Maximum duration of an attempt, in ms. */
  timeoutMs: number;
  /** The pause after the first failed attempt, in ms. */
  firstPauseMs: number;
}

const defaultTimings: WebhookTimings = { intervalMs: 1_000, timeoutMs: 10_000, firstPauseMs: 5_000 };

/**
 * Limits of concurrent attempts in this process. A hanging attempt holds its slot for ten seconds.
 */
const slots: Slots = { shared: 50, ofOrganization: 20, ofWebhook: 10, total: 500 };

/** Pause before the next look if the last one found deliveries, in ms. */
const shortPauseMs = 20;

/**
 * Maximum pause while attempts are in progress, in ms: notifications of others are attempted within
 * 2 s, however many attempts hang.
 */
const busyPauseMs = 250;

/** The pause after failures grows by this factor, up to a day. */
const growth = 4;
const longestPauseMs = 86_400_000;

/** Interval at which old deliveries are given up and the metrics are set, in ms. */
const surveyMs = 15_000;

/**
 * Sends the deliveries in the outbox: at least once, with a constant id, and in order for each
 * automation and webhook. Any number of processes may run it. An attempt ends after `timeoutMs`; a
 * claim holds twice as long.
 */
export class WebhookSender {
  readonly name = 'webhooks';
  readonly #options: WebhookSenderOptions;
  readonly #timings: WebhookTimings;
  readonly #agents: { public: GuardedAgent; private: GuardedAgent };
  readonly #underWay = new Map<Claim, Promise<void>>();
  readonly #looks: Repeating;
  readonly #surveys: Repeating;
  #failing = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#timings = { ...defaultTimings, ...options.timings };
    const { ca, lookup = lookUp() } = options;
    this.#agents = {
      public: new GuardedAgent(forbiddenAddresses(false), { lookup, ca }),
      private: new GuardedAgent(forbiddenAddresses(true), { lookup, ca }),
    };
    this.#looks = new Repeating(() => this.#guard(() => this.#look()));
    this.#surveys = new Repeating(() => this.#guard(() => this.#survey()));
  }

  async start(): Promise<void> {
    this.#looks.start();
    this.#surveys.start();
  }

  /** Starts no more attempts, and waits for those in progress. */
  async stop(): Promise<void> {
    await Promise.all([this.#looks.stop(), this.#surveys.stop()]);
    await Promise.all(this.#underWay.values());
  }

  async #look(): Promise<number> {
    const { db } = this.#options;
    const claims = await claimDue(db, { slots, underWay: this.#countUnderWay(), leaseMs: 2 * this.#timings.timeoutMs });
    for (const claim of claims) {
      this.#underWay.set(
        claim,
        this.#send(claim).finally(() => this.#underWay.delete(claim)),
      );
    }
    const parked = await parkLater(db);
    if (claims.length + parked > 0) return shortPauseMs;
    const { intervalMs } = this.#timings;
    return this.#underWay.size > 0 ? Math.min(busyPauseMs, intervalMs) : intervalMs;
  }

  #countUnderWay(): ClaimOptions['underWay'] {
    const keyOf = ({ organization, namespace, name }: WebhookRef) => JSON.stringify([organization, namespace, name]);
    const byWebhook = Map.groupBy(this.#underWay.keys(), keyOf);
    return [...byWebhook.values()].flatMap(([webhook, ...more]) =>
      webhook ? [{ webhook, count: 1 + more.length }] : [],
    );
  }

  /** Never rejects: if its result cannot be recorded, the delivery is due again after the lease. */
  async #send(claim: Claim): Promise<void> {
    const { db, secretsOf, allowPrivate, metrics, logger } = this.#options;
    const agent = allowPrivate && claim.allow_private ? this.#agents.private : this.#agents.public;
    const { organization, namespace, name, id, attempts } = claim;
    const result = await attempt(claim, { secrets: secretsOf(claim), agent, timeoutMs: this.#timings.timeoutMs });
    try {
      if (result.ok) {
        await noteDelivered(db, claim, result.status);
        metrics.count('webhook', 'ok');
        return;
      }
      const { status, error, retryAfterMs } = result;
      const pauseMs = Math.min(longestPauseMs, Math.max(this.#pauseAfter(attempts), retryAfterMs));
      metrics.count('webhook', await noteFailed(db, claim, { status, error, pauseMs }));
      logger.info({ organization, webhook: `${namespace}/${name}`, delivery: id, attempts, error }, 'webhook failed');
    } catch (error) {
      logger.warn({ error, delivery: id }, 'result of a webhook is not noted, it is sent again');
    }
  }

  /** The pause after an attempt, with jitter, in ms. */
  #pauseAfter(attempts: number): number {
    const most = Math.min(longestPauseMs, this.#timings.firstPauseMs * growth ** (attempts - 1));
    return most * (0.5 + Math.random() / 2);
  }

  /** Gives up deliveries that could not be sent in time, and sets the metrics. */
  async #survey(): Promise<number> {
    const { db, metrics, logger } = this.#options;
    for (let ids = await giveUpOld(db); ids.length > 0; ids = await giveUpOld(db)) {
      for (const id of ids) {
        metrics.count('webhook', 'given_up');
        logger.warn({ delivery: id }, 'webhook given up');
      }
    }
    const { rows } = await sql<{ waiting: string; age: string | null }>`
      select count(*) as waiting, extract(epoch from now() - min(created_at)) as age from (
        select created_at from deliveries where ${isWaiting} order by created_at limit 10000
      ) as waiting
    `.execute(db);
    metrics.waiting.set(Number(rows[0]?.waiting ?? 0));
    metrics.oldestSeconds.set(Math.max(0, Number(rows[0]?.age ?? 0)));
    return surveyMs;
  }

  /** Logs the first of consecutive failures. Resolves with the pause before the next run, in ms. */
  async #guard(work: () => Promise<number>): Promise<number> {
    const { logger } = this.#options;
    try {
      const pauseMs = await work();
      if (this.#failing) logger.info('outbox is read again');
      this.#failing = false;
      return pauseMs;
    } catch (error) {
      if (!this.#failing) logger[isUnavailable(error) ? 'warn' : 'error']({ error }, 'outbox cannot be read');
      this.#failing = true;
      return this.#timings.intervalMs;
    }
  }
}
