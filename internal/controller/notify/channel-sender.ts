import type { LookupFunction } from 'node:net';
import { Repeating } from '../../kit/async/repeating.ts';
import type { Database } from '../../store/database.ts';
import { isUnavailable } from '../../store/errors.ts';
import { isWaiting } from '../../store/parked-deliveries.ts';
import { sql } from '../../store/sql.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { NotifyMetrics } from './notify-metrics.ts';
import { attempt } from './attempt.ts';
import { claimDue, type Claim, type ClaimOptions, type Slots, type ChannelRef } from './claim.ts';
import { forbiddenAddresses } from './forbidden-addresses.ts';
import { GuardedAgent } from './guarded-agent.ts';
import { lookUp } from './look-up.ts';
import type { MailServer } from './mail.ts';
import { isQuiet } from '../../expectation/read-channel.ts';
import { giveUpOld, noteDelivered, noteFailed } from './note-result.ts';
import { parkLater } from './park.ts';

export interface ChannelSenderOptions {
  db: Database;
  /** The current contents of a channel's Secret; none if there is no such Secret. */
  secretsOf: (channel: ChannelRef) => readonly string[];
  /** Lets channels with `allow_private` connect to private addresses. */
  allowPrivate: boolean;
  /** The mail server of the installation, if it has one. */
  mailServer?: MailServer | undefined;
  metrics: NotifyMetrics;
  logger: Logger;
  /** Certificates to trust instead of the system's, PEM. */
  ca?: string | undefined;
  /** Looks up the addresses of receivers. Default: as the system does. */
  lookup?: LookupFunction;
  timings?: Partial<ChannelTimings>;
}

export interface ChannelTimings {
  /** Maximum pause between two looks into the outbox, in ms. */
  intervalMs: number;
  /** Maximum duration of an attempt, in ms. */
  timeoutMs: number;
  /** The pause after the first failed attempt, in ms. */
  firstPauseMs: number;
}

const defaultTimings: ChannelTimings = { intervalMs: 1_000, timeoutMs: 10_000, firstPauseMs: 5_000 };

/**
 * Limits of concurrent attempts in this process. A hanging attempt holds its slot for ten seconds.
 */
const slots: Slots = { shared: 50, ofOrganization: 20, ofChannel: 10, total: 500 };

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
const longestPeoplePauseMs = 3_600_000;

/** Interval at which old deliveries are given up and the metrics are set, in ms. */
const surveyMs = 15_000;

/**
 * Sends the deliveries in the outbox: at least once, with a constant id, and in order for each
 * automation and channel. Any number of processes may run it. An attempt ends after `timeoutMs`; a
 * claim holds twice as long.
 */
export class ChannelSender {
  readonly name = 'channels';
  readonly #options: ChannelSenderOptions;
  readonly #timings: ChannelTimings;
  readonly #agents: { public: GuardedAgent; private: GuardedAgent };
  readonly #underWay = new Map<Claim, Promise<void>>();
  readonly #looks: Repeating;
  readonly #surveys: Repeating;
  #failing = false;

  constructor(options: ChannelSenderOptions) {
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
    const claims = await claimDue(db, {
      slots,
      underWay: this.#countUnderWay(),
      quiet: await this.#quietChannels(),
      leaseMs: 2 * this.#timings.timeoutMs,
    });
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

  /** The channels in their quiet hours: Node knows the zones of declarations, Postgres may not. */
  async #quietChannels(): Promise<ChannelRef[]> {
    const now = new Date();
    const rows = await this.#options.db
      .selectFrom('channels')
      .select(['organization', 'namespace', 'name', 'quiet_hours'])
      .where('quiet_hours', 'is not', null)
      .execute();
    return rows.filter(({ quiet_hours: hours }) => hours !== null && isQuiet(hours, now));
  }

  #countUnderWay(): ClaimOptions['underWay'] {
    const keyOf = ({ organization, namespace, name }: ChannelRef) => JSON.stringify([organization, namespace, name]);
    const byChannel = Map.groupBy(this.#underWay.keys(), keyOf);
    return [...byChannel.values()].flatMap(([channel, ...more]) =>
      channel ? [{ channel, count: 1 + more.length }] : [],
    );
  }

  /** Never rejects: if its result cannot be recorded, the delivery is due again after the lease. */
  async #send(claim: Claim): Promise<void> {
    const { db, secretsOf, allowPrivate, mailServer, metrics, logger } = this.#options;
    const agent = allowPrivate && claim.allow_private ? this.#agents.private : this.#agents.public;
    const { organization, namespace, name, id, count, attempts } = claim;
    const { timeoutMs } = this.#timings;
    const result = await attempt(claim, { secrets: secretsOf(claim), agent, mailServer, timeoutMs });
    try {
      if (result.ok) {
        await noteDelivered(db, claim, result);
        metrics.count('channel', 'ok');
        return;
      }
      const { status, error, retryAfterMs, isFinal } = result;
      const pauseMs = this.#pauseOf(claim, status === 429, retryAfterMs);
      metrics.count('channel', await noteFailed(db, claim, { status, error, pauseMs, isFinal }));
      const channel = `${namespace}/${name}`;
      logger.info({ organization, channel, delivery: id, count, attempts, error }, 'channel failed');
    } catch (error) {
      logger.warn({ error, delivery: id }, 'result of a channel is not noted, it is sent again');
    }
  }

  /**
   * The pause after an attempt, with jitter, in ms. People wait less than programs, since later news
   * join the message; a busy chat says itself when to come back.
   */
  #pauseOf({ type, attempts }: Claim, isBusy: boolean, retryAfterMs: number): number {
    const isPeople = type !== 'webhook';
    const longest = isPeople ? longestPeoplePauseMs : longestPauseMs;
    const most = Math.min(longest, this.#timings.firstPauseMs * growth ** (attempts - 1));
    const pause = most * (0.5 + Math.random() / 2);
    return isPeople && isBusy && retryAfterMs > 0
      ? Math.min(longestPauseMs, retryAfterMs)
      : Math.min(longestPauseMs, Math.max(pause, retryAfterMs));
  }

  /** Gives up deliveries that could not be sent in time, and sets the metrics. */
  async #survey(): Promise<number> {
    const { db, metrics, logger } = this.#options;
    for (let ids = await giveUpOld(db); ids.length > 0; ids = await giveUpOld(db)) {
      for (const id of ids) {
        metrics.count('channel', 'given_up');
        logger.warn({ delivery: id }, 'channel given up');
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
