import type { AcceptedEvent } from '../event/event.ts';
import type { TracePoint } from '../telemetry/tracing.ts';

/** Bounds of a batch, near enough: what one job holds is not split. Bytes are UTF-16 units of the texts that may be long. */
export interface BatchLimits {
  batchEvents: number;
  batchBytes: number;
}

/** What became of the events handed over: in Postgres (or its dead letters), or given back because the process stops. */
export type Fate = 'stored' | 'abandoned';

/** The events of a job, and who waits for their fate. */
export interface WaitingJob {
  events: AcceptedEvent[];
  redelivered: boolean;
  /** Where the job is in its trace. */
  point: TracePoint | undefined;
  settle: (fate: Fate) => void;
}

/** Jobs whose events wait for a statement, in the order they came. */
export class WaitingJobs {
  readonly #limits: BatchLimits;
  readonly #jobs: { job: WaitingJob; bytes: number }[] = [];
  #events = 0;
  #bytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#jobs.length;
  }

  /** True when one statement need not take more. */
  get fillsBatch(): boolean {
    return this.#events >= this.#limits.batchEvents || this.#bytes >= this.#limits.batchBytes;
  }

  add(job: WaitingJob): void {
    const bytes = sizeOf(job.events);
    this.#jobs.push({ job, bytes });
    this.#events += job.events.length;
    this.#bytes += bytes;
  }

  /** As many as one statement may hold, and at least one. */
  takeBatch(): WaitingJob[] {
    let [events, bytes] = [0, 0];
    const tooMuch = this.#jobs.findIndex((waiting, index) => {
      events += waiting.job.events.length;
      bytes += waiting.bytes;
      return index > 0 && (events > this.#limits.batchEvents || bytes > this.#limits.batchBytes);
    });
    return this.#take(tooMuch === -1 ? this.#jobs.length : tooMuch);
  }

  takeAll(): WaitingJob[] {
    return this.#take(this.#jobs.length);
  }

  #take(count: number): WaitingJob[] {
    return this.#jobs.splice(0, count).map(({ job, bytes }) => {
      this.#events -= job.events.length;
      this.#bytes -= bytes;
      return job;
    });
  }
}

function sizeOf(events: AcceptedEvent[]): number {
  return events.reduce((sum, event) => sum + event.description.length + event.errorDescription.length, 0);
}
