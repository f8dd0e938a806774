import type { Logger } from '../kit/telemetry/logger.ts';
import type { WarningEvent } from './events.ts';

/** Posts a core/v1 Event. Also resolves if an Event of that name exists. */
export type PostEvent = (event: WarningEvent) => Promise<void>;

/**
 * Interval at which an Event is posted again, in ms. API servers delete an Event after an hour
 * (`--event-ttl`).
 */
const postAgainMs = 10 * 60_000;

export interface EventReporterOptions {
  readonly logger: Logger;
  /** Called once for each new Event, before it is posted. */
  readonly onNew: (event: WarningEvent) => void;
  /** The time of any monotonic clock, in ms. */
  readonly now?: () => number;
}

/**
 * Reports faults of objects to their owners with Kubernetes Events: one Event per change of an
 * object or of its faults. Every pod posts it; its name depends only on the change, so the API
 * server accepts it once.
 */
export class EventReporter {
  readonly #logger: Logger;
  readonly #onNew: (event: WarningEvent) => void;
  readonly #now: () => number;
  /** Time of the last post of each Event, by namespace and name. */
  #posted = new Map<string, number>();
  #running: Promise<void> | undefined;
  #next: (() => Promise<void>) | undefined;

  constructor({ logger, onNew, now = () => performance.now() }: EventReporterOptions) {
    this.#logger = logger;
    this.#onNew = onNew;
    this.#now = now;
  }

  /**
   * Posts the new Events among all that hold now. Of several calls during one report, only the last
   * takes effect. An aborted `signal` ends the report; the next one posts the rest.
   */
  report(events: readonly WarningEvent[], post: PostEvent, signal: AbortSignal): void {
    this.#next = () => this.#reportNew(events, post, signal);
    this.#running ??= this.#run();
  }

  /** Resolves when no report is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let task = this.#next; task !== undefined; task = this.#next) {
      this.#next = undefined;
      await task();
    }
    this.#running = undefined;
  }

  async #reportNew(events: readonly WarningEvent[], post: PostEvent, signal: AbortSignal): Promise<void> {
    const names = new Set(events.map(nameOf));
    this.#posted = new Map([...this.#posted].filter(([name]) => names.has(name)));

    let failed = 0;
    let lastError: unknown;
    for (const event of events.filter((candidate) => this.#isDue(nameOf(candidate)))) {
      if (signal.aborted) return;
      if (!this.#posted.has(nameOf(event))) this.#onNew(event);
      try {
        await post(event);
        this.#posted.set(nameOf(event), this.#now());
      } catch (error) {
        failed += 1;
        lastError = error;
      }
    }
    if (failed === 0 || signal.aborted) return;
    this.#logger.warn({ error: lastError, failed }, 'could not post Events, retrying at the next change or list');
  }

  #isDue(name: string): boolean {
    const at = this.#posted.get(name);
    return at === undefined || this.#now() - at >= postAgainMs;
  }
}

function nameOf({ metadata }: WarningEvent): string {
  return `${metadata.namespace}/${metadata.name}`;
}
