import { setTimeout as sleep } from 'node:timers/promises';
import type { AcceptedEvent } from '../event/event.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import { Availability } from './availability.ts';
import type { Batcher } from './batcher.ts';
import type { Storage, StoreResult } from './storage.ts';

/** Pause before the queue gets back a job that can be neither stored nor set aside, in ms. */
const returnMs = 1_000;

/**
 * Jobs of the common queue set events aside. Jobs of the overflow lane, and those already set
 * aside, wait for their database.
 */
export type RoutedQueue = 'common' | 'overflow' | 'aside';

/** Why events are set aside: their database stores nothing, or their organization is moving. */
export type Reason = { unavailable: string } | { moving: true };

export interface RouterOptions {
  /** By database name. */
  batchers: ReadonlyMap<string, Batcher>;
  /** The map organization → database. */
  map: { readonly isKnown: boolean; placeOf(organization: string): { database: string }; refresh(): Promise<void> };
  /** Adds events to a separate queue. Resolves once they are on disk. */
  setAside: (events: AcceptedEvent[], reason: Reason) => Promise<void>;
  /** The queue that the jobs come from. */
  queue: RoutedQueue;
  logger: Logger;
}

/** How long a database that refused an organization is not tried for it again, in ms. */
const closedMs = 1_000;

const nothing: StoreResult = 'stored';

/**
 * Stores each event in the database of its organization. Events whose database stores nothing for
 * three seconds, or whose organization is moving, are set aside in the queue. So their jobs end,
 * and organizations in other databases do not wait.
 */
export class Router implements Storage {
  readonly #options: RouterOptions;
  readonly #abandon = new AbortController();
  readonly #availability: Availability;
  /** Organizations that a database has just refused, and until when it is not tried for them. */
  readonly #closed = new Map<string, { database: string; until: number }>();
  #setAside = 0;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#availability = new Availability(options.batchers, options.logger);
  }

  async add(events: AcceptedEvent[], redelivered = false): Promise<StoreResult> {
    const { map, queue } = this.#options;
    if (!this.#waits) this.#availability.start();
    if (!map.isKnown && !(await this.#mapIsRead())) return 'abandoned';
    const parts = Map.groupBy(events, ({ organization }) => map.placeOf(organization).database);
    // An abandoned statement may have stored and counted what was set aside.
    const counted = redelivered || queue === 'aside';
    const results = await Promise.all(Array.from(parts, ([name, part]) => this.#store(name, part, counted)));
    return results.find((result) => result !== 'stored') ?? 'stored';
  }

  /** Where events are set aside, only the first database counts, since no other delays jobs. */
  get retrying(): boolean {
    const [first, ...others] = this.#options.batchers.values();
    return first?.retrying === true || (this.#waits && others.some((batcher) => batcher.retrying));
  }

  get storedBatches(): number {
    const batchers = [...this.#options.batchers.values()];
    return batchers.reduce((sum, batcher) => sum + batcher.storedBatches, this.#setAside);
  }

  abandon(): void {
    this.#availability.stop();
    this.#abandon.abort();
    for (const batcher of this.#options.batchers.values()) batcher.abandon();
  }

  get #waits(): boolean {
    return this.#options.queue !== 'common';
  }

  async #mapIsRead(): Promise<boolean> {
    const { map } = this.#options;
    while (!map.isKnown && !this.#abandon.signal.aborted) {
      await map.refresh().catch(() => this.#pause(returnMs));
    }
    return map.isKnown;
  }

  async #store(name: string, events: AcceptedEvent[], redelivered: boolean): Promise<StoreResult> {
    const batcher = this.#options.batchers.get(name);
    if (batcher === undefined) {
      this.#options.logger.error({ database: name }, 'DATABASE_URLS lacks a database of the map: its events wait');
      return this.#aside(events, { unavailable: name });
    }
    if (!this.#waits && !this.#availability.isAvailable(name)) return this.#aside(events, { unavailable: name });
    if (this.#closed.size > 0) {
      const closed = new Set(
        events.map(({ organization }) => organization).filter((each) => this.#isClosed(each, name)),
      );
      if (closed.size > 0) return this.#split(name, events, closed);
    }
    const result = await batcher.add(events, redelivered);
    if (result === 'stored' || result === 'abandoned' || result === 'postponed') return result;
    if (result === 'withdrawn') return this.#aside(events, { unavailable: name });
    return this.#storeElsewhere(name, events, result);
  }

  /** The database refused the events: the map may be stale, or an organization is on the move. */
  async #storeElsewhere(name: string, events: AcceptedEvent[], moved: ReadonlySet<string>): Promise<StoreResult> {
    const { map, logger } = this.#options;
    await map.refresh().catch((error: unknown) => logger.warn({ error }, 'the map of organizations cannot be read'));
    const until = performance.now() + closedMs;
    for (const organization of moved) this.#closed.set(organization, { database: name, until });
    return this.#split(name, events, moved);
  }

  #isClosed(organization: string, name: string): boolean {
    const closed = this.#closed.get(organization);
    if (closed?.database !== name) return false;
    if (performance.now() < closed.until) return true;
    this.#closed.delete(organization);
    return false;
  }

  /** Sets aside the events of these organizations, unless the map now places them elsewhere. */
  async #split(name: string, events: AcceptedEvent[], moved: ReadonlySet<string>): Promise<StoreResult> {
    const { map } = this.#options;
    const parts = Map.groupBy(events, ({ organization }) =>
      moved.has(organization) && map.placeOf(organization).database === name ? 'closed' : 'open',
    );
    const { closed = [], open = [] } = Object.fromEntries(parts);
    const [one, other] = await Promise.all([
      closed.length === 0 ? nothing : this.#aside(closed, { moving: true }),
      open.length === 0 ? nothing : this.add(open, true),
    ]);
    return one === 'stored' ? other : one;
  }

  async #aside(events: AcceptedEvent[], reason: Reason): Promise<StoreResult> {
    // Do not retry immediately.
    if (this.#options.queue === 'aside') await this.#pause(returnMs);
    try {
      if (this.#abandon.signal.aborted) return 'abandoned';
      await this.#options.setAside(events, reason);
      this.#setAside += 1;
      return 'stored';
    } catch (error) {
      this.#options.logger.warn({ error }, 'events cannot be set aside, returning their job to the queue');
      await this.#pause(returnMs);
      return 'abandoned';
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#abandon.signal }).catch(() => undefined);
  }
}
