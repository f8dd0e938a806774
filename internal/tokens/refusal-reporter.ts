import { hash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from '../telemetry/logger.ts';
import { explain, type SecretRefusal } from './secret-refusal.ts';
import type { SecretReference } from './secret-manifest.ts';

/** Posts a core/v1 Event. Resolves also if an Event of that name exists. */
export type PostEvent = (event: RefusalEvent) => Promise<void>;

export type RefusalEvent = ReturnType<typeof refusalEvent>;

/**
 * Interval of repeated posts of an Event, in ms. API servers delete an Event after an hour
 * (`--event-ttl`).
 */
const postAgainMs = 10 * 60_000;

/**
 * Reports refused Secrets to their owners with Kubernetes Events: one Event per change of a Secret
 * or of its faults. Every pod posts it. The name of the Event depends on the change only, so the
 * API server accepts it once.
 */
export class RefusalReporter {
  readonly #logger: Logger;
  readonly #now: () => number;
  /** Time of the last post of each Event, by name. */
  #posted = new Map<string, number>();
  #running: Promise<void> | undefined;
  #next: (() => Promise<void>) | undefined;

  /** `now` returns the time of any monotonic clock, in ms. */
  constructor(logger: Logger, now = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  /**
   * Reports new refusals. Of several calls during one report, only the last one takes effect. An
   * aborted `signal` ends the report; the next one posts the rest.
   */
  report(refusals: readonly SecretRefusal[], post: PostEvent, signal: AbortSignal): void {
    this.#next = () => this.#reportNew(refusals, post, signal);
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

  async #reportNew(refusals: readonly SecretRefusal[], post: PostEvent, signal: AbortSignal): Promise<void> {
    const events = [...Map.groupBy(refusals, ({ secret }) => secret)].map(refusalEvent);
    const names = new Set(events.map(({ metadata }) => metadata.name));
    this.#posted = new Map([...this.#posted].filter(([name]) => names.has(name)));

    let failed = 0;
    let lastError: unknown;
    for (const event of events.filter(({ metadata }) => this.#isDue(metadata.name))) {
      if (signal.aborted) return;
      const { name } = event.metadata;
      if (!this.#posted.has(name)) {
        this.#logger.warn({ secret: event.involvedObject.name, refusal: event.message }, 'tokens of a Secret refused');
      }
      try {
        await post(event);
        this.#posted.set(name, this.#now());
      } catch (error) {
        failed += 1;
        lastError = error;
      }
    }
    if (failed === 0 || signal.aborted) return;
    this.#logger.warn(
      { error: lastError, failed },
      'could not post Events on refused Secrets, retrying at the next change or list',
    );
  }

  #isDue(name: string): boolean {
    const at = this.#posted.get(name);
    return at === undefined || this.#now() - at >= postAgainMs;
  }
}

/**
 * Returns the Warning Event of one Secret. Equal refusals of an equal version have the same name in
 * every pod.
 */
function refusalEvent([secret, refusals]: [SecretReference, SecretRefusal[]]) {
  const sentences = refusals.map(explain).sort();
  const others = refusals.map(({ other }) => other?.uid ?? '').sort();
  const change = hash('sha256', JSON.stringify([secret.uid, secret.resourceVersion, sentences, others])).slice(0, 16);
  const now = new Date().toISOString();
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${secret.name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}-${change}`,
      namespace: secret.namespace,
    },
    type: 'Warning',
    reason: 'TokenRefused',
    message: sentences.join('; ').slice(0, 1000),
    involvedObject: { apiVersion: 'v1', kind: 'Secret', ...secret },
    source: { component: 'runledger-ingest' },
    reportingComponent: 'runledger.dev/ingest',
    reportingInstance: hostname(),
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
}
