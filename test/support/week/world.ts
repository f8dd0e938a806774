import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { Transition } from '../../../internal/expectation/transition.ts';
import type { Database } from '../../../internal/store/database.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../events.ts';
import { tickAt } from '../expectations.ts';
import type { Random } from '../fault/random.ts';
import type { Outage, Part } from './outages.ts';

/** As `internal/queue/admission/admission-journal.ts`. */
const silenceMs = 20_000;
const clocksDifferMs = 60_000;

/** Time between two notes, in ms. */
const noteMs = 15_000;

/** An event that a caller sends. */
export interface Sent {
  at: number;
  automationId: string;
  executionId: string;
  kind: AcceptedEvent['kind'];
  /** Sends it again after a 503. */
  retries: boolean;
}

/** Runledger with a moved clock: ingest and Redis are a model, Postgres and the ticks are real. */
export class WeekWorld {
  /** What receivers were told, in order. */
  readonly told: Transition[] = [];
  /** The STARTs that ingest accepted, and when. */
  readonly started: Pick<Sent, 'automationId' | 'at'>[] = [];
  /** Ticks that died before they committed. */
  crashes = 0;
  readonly #db: Database;
  readonly #random: Random;
  readonly #outages: readonly Outage[];
  #queue: { at: number; event: AcceptedEvent }[] = [];
  readonly #gaps: { from: number; until: number }[] = [];
  #notedAt: number | undefined;
  #rejected: { first: number; last: number } | undefined;

  constructor(db: Database, random: Random, outages: readonly Outage[]) {
    this.#db = db;
    this.#random = random;
    this.#outages = outages;
  }

  isUp(part: Part, now: number): boolean {
    return !this.#outages.some((outage) => outage.part === part && outage.from <= now && outage.until > now);
  }

  /** True if ingest accepted it. */
  send({ at, automationId, executionId, kind }: Sent): boolean {
    if (!this.isUp('ingest', at)) return false;
    if (!this.isUp('redis', at)) {
      this.#rejected = { first: this.#rejected?.first ?? at, last: at };
      return false;
    }
    const createdAt = this.#clock('ingest clock', at);
    if (kind === 'START') this.started.push({ automationId, at });
    this.#queue.push({ at: createdAt, event: anEvent({ automationId, executionId, kind, createdAt }) });
    return true;
  }

  /** A note of ingest, as the script of the journal writes it in the time of Redis. */
  note(now: number): void {
    if (!this.isUp('ingest', now)) this.#rejected = undefined;
    if (!this.isUp('ingest', now) || !this.isUp('redis', now)) return;
    const redis = this.#clock('redis clock', now);
    const last = this.#notedAt ?? 0;
    if (redis - last > silenceMs) this.#gaps.push({ from: last, until: redis });
    if (this.#rejected !== undefined) {
      const { first, last: until } = this.#rejected;
      this.#gaps.push({ from: redis - (now - first), until: redis - (now - until) });
    }
    // The times of its events are wrong.
    if (Math.abs(this.#clock('ingest clock', now) - redis) > clocksDifferMs) {
      this.#gaps.push({ from: redis - noteMs, until: redis });
    }
    this.#rejected = undefined;
    this.#notedAt = redis;
  }

  /** The workers store what is in the queue, in any order, some of it twice. */
  async work(now: number): Promise<void> {
    if (this.#queue.length === 0) return;
    if (!['workers', 'redis', 'postgres'].every((part) => this.isUp(part as Part, now))) return;
    const events = this.#random.shuffle(this.#queue).map(({ event }) => event);
    await recordEvents(this.#db, events);
    if (this.#random.chance(0.1)) await recordEvents(this.#db, events);
    this.#queue = [];
  }

  /** A tick of a controller, which may die in it. */
  async tick(now: number): Promise<void> {
    if (!this.isUp('controller', now) || !this.isUp('postgres', now)) return;
    const dies = this.#random.chance(0.05);
    const [redis, postgres] = [this.#clock('redis clock', now), this.#clock('postgres clock', now)];
    const reading = {
      now: redis,
      oldestAt: this.#queue.length === 0 ? undefined : Math.min(...this.#queue.map(({ at }) => at)),
      admittingAt: this.#notedAt,
      gaps: [...this.#gaps],
    };
    const committed = tickAt(this.#db, now, {
      queue: this.isUp('redis', now) ? reading : { reason: 'Redis does not answer.' },
      clocks: () => ({ controller: this.#clock('controller clock', now), postgres }),
      listeners: [{ recordTransitions: async () => {}, recordTick: dies ? die : async () => {} }],
    });
    await committed.then(
      ({ transitions }) => this.told.push(...transitions),
      (error: unknown) => {
        if (!dies) throw error;
        this.crashes += 1;
      },
    );
  }

  #clock(part: Part, now: number): number {
    const wrong = this.#outages.find((outage) => outage.part === part && outage.from <= now && outage.until > now);
    return now + (wrong?.stepMs ?? 0);
  }
}

/** The controller dies at the end of a tick. */
function die(): Promise<never> {
  return Promise.reject(new Error('the controller died'));
}
