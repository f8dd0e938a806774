import { Repeating } from '../async/repeating.ts';
import type { Database } from '../store/database.ts';
import { isUnavailable } from '../store/errors.ts';
import { sql } from '../store/sql.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { NotifyMetrics } from '../telemetry/notify-metrics.ts';
import { attempt } from './attempt.ts';
import { claimDue, givenUpAfter, noteDelivered, noteFailed, type Claim, type WebhookRef } from './claim.ts';
import { forbiddenAddresses } from './forbidden-addresses.ts';
import { GuardedAgent } from './guarded-agent.ts';

export interface WebhookSenderOptions {
  db: Database;
  /** The secrets of a webhook, as its Secret has them now; none if there is no such Secret. */
  secretsOf: (webhook: WebhookRef) => readonly string[];
  /** Lets webhooks with `allow_private` connect to private addresses. */
  allowPrivate: boolean;
  metrics: NotifyMetrics;
  logger: Logger;
  /** Certificates to trust in place of the system's, PEM. */
  ca?: string | undefined;
  timings?: Partial<WebhookTimings>;
}

export interface WebhookTimings {
  /** Pause between two looks into the outbox, in ms. */
  intervalMs: number;
  /** Longest duration of an attempt, in ms. */
  timeoutMs: number;
  /** The pause after the first failed attempt, in ms. */
  firstPauseMs: number;
}

const defaultTimings: WebhookTimings = { intervalMs: 1_000, timeoutMs: 10_000, firstPauseMs: 5_000 };

/** Most attempts under way in this process, and most of one webhook. */
const mostAttempts = 50;
const mostOfWebhook = 10;

/** Pause before the next look when the last one found deliveries, in ms. */
const shortPauseMs = 20;

/** The pause grows by this factor, up to a day. */
const growth = 4;
const longestPauseMs = 86_400_000;

/** How often old deliveries are given up and the metrics are set, in ms. */
const surveyMs = 15_000;

/**
 * Sends the deliveries of the outbox: at least once, with a constant id, in order for each
 * automation and webhook. Any number of processes may run it. Attempts end after `timeoutMs`; a
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
    this.#agents = {
      public: new GuardedAgent(forbiddenAddresses(false), options.ca),
      private: new GuardedAgent(forbiddenAddresses(true), options.ca),
    };
    this.#looks = new Repeating(() => this.#guard(() => this.#look()));
    this.#surveys = new Repeating(() => this.#guard(() => this.#survey()));
  }

  async start(): Promise<void> {
    this.#looks.start();
    this.#surveys.start();
  }

  /** Starts no more attempts, and waits for those under way. */
  async stop(): Promise<void> {
    await Promise.all([this.#looks.stop(), this.#surveys.stop()]);
    await Promise.all(this.#underWay.values());
  }

  async #look(): Promise<number> {
    const most = mostAttempts - this.#underWay.size;
    if (most <= 0) return shortPauseMs;
    const busy = this.#busy();
    const leaseMs = 2 * this.#timings.timeoutMs;
    const claims = await claimDue(this.#options.db, { most, mostOfWebhook, busy, leaseMs });
    for (const claim of claims) {
      this.#underWay.set(
        claim,
        this.#send(claim).finally(() => this.#underWay.delete(claim)),
      );
    }
    return claims.length > 0 ? shortPauseMs : this.#timings.intervalMs;
  }

  /** The webhooks with the most attempts under way: a slow one leaves room for the others. */
  #busy(): WebhookRef[] {
    const counts = new Map<string, { webhook: WebhookRef; count: number }>();
    for (const webhook of this.#underWay.keys()) {
      const key = JSON.stringify([webhook.organization, webhook.namespace, webhook.name]);
      counts.set(key, { webhook, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    return [...counts.values()].filter(({ count }) => count >= mostOfWebhook).map(({ webhook }) => webhook);
  }

  /** Never rejects: without a note of its result the delivery is due again after the lease. */
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

  /** The pause after an attempt, with a random part, in ms. */
  #pauseAfter(attempts: number): number {
    const most = Math.min(longestPauseMs, this.#timings.firstPauseMs * growth ** (attempts - 1));
    return most * (0.5 + Math.random() / 2);
  }

  /** Gives up deliveries that nobody could attempt in time, and sets the metrics. */
  async #survey(): Promise<number> {
    const { db, metrics, logger } = this.#options;
    const { rows } = await sql<{ id: string }>`
      update deliveries set given_up_at = now(), last_error = coalesce(last_error, 'there was no attempt')
      where delivered_at is null and given_up_at is null and next_attempt_at <= now()
        and created_at < now() - ${givenUpAfter}::interval
      returning id
    `.execute(db);
    for (const { id } of rows) {
      metrics.count('webhook', 'given_up');
      logger.warn({ delivery: id }, 'webhook given up');
    }
    const { rows: found } = await sql<{ waiting: string; age: string | null }>`
      select count(*) as waiting, extract(epoch from now() - min(created_at)) as age from (
        select created_at from deliveries where delivered_at is null and given_up_at is null limit 10000
      ) as waiting
    `.execute(db);
    metrics.waiting.set(Number(found[0]?.waiting ?? 0));
    metrics.oldestSeconds.set(Math.max(0, Number(found[0]?.age ?? 0)));
    return surveyMs;
  }

  /** Logs the first of several failures. Resolves with the pause before the next run, in ms. */
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
