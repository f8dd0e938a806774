import type { EventKind } from '../../../internal/event/schema.ts';

/** What a caller sends. */
export interface Body {
  automation_id: string;
  execution_id: string;
  event: EventKind;
  description: string;
  error_id?: string;
  error_description?: string;
}

/**
 * What a caller knows after a try. `receipt`: 201. `ambiguous`: 5xx, 409, or no answer; the event
 * may be stored or not. `refused`: a 4xx, so it must not be stored.
 */
export type Verdict = 'receipt' | 'ambiguous' | 'refused';

export interface Attempt {
  verdict: Verdict;
  /** 0 when there was no answer. */
  status: number;
  /** Of a receipt: the time it says. */
  createdAt?: string;
}

/**
 * One event that a caller wanted recorded, and every try to do so. `description` tells it from all
 * others.
 */
export interface Entry {
  body: Body;
  idempotencyKey: string | undefined;
  attempts: Attempt[];
}

/**
 * A request as the statistics see it: begun and ended when (ms of the monotonic clock), and how.
 */
export interface Sample {
  begun: number;
  ended: number;
  status: number;
}

/** Writes down every request and every answer. */
export class Ledger {
  readonly entries: Entry[] = [];
  /** Answers that no request of a correct client may get, in words. */
  readonly invalidAnswers: string[] = [];
  readonly #samples: Sample[] = [];
  readonly statuses = new Map<number, number>();
  slowest503Ms = 0;

  open(body: Body, idempotencyKey: string | undefined): Entry {
    const entry: Entry = { body, idempotencyKey, attempts: [] };
    this.entries.push(entry);
    return entry;
  }

  /** Adds the result of a try. `text` is the body of the answer. */
  record(entry: Entry, sample: Sample, text: string): Attempt {
    this.#samples.push(sample);
    this.statuses.set(sample.status, (this.statuses.get(sample.status) ?? 0) + 1);
    if (sample.status === 503) this.slowest503Ms = Math.max(this.slowest503Ms, sample.ended - sample.begun);
    const attempt = this.#verdictOf(entry, sample.status, text);
    entry.attempts.push(attempt);
    return attempt;
  }

  /** Requests begun since a time (`performance.now()`). */
  since(time: number): Sample[] {
    const recent: Sample[] = [];
    for (let index = this.#samples.length - 1; index >= 0; index -= 1) {
      const sample = this.#samples[index];
      if (sample === undefined || sample.ended < time) break;
      if (sample.begun >= time) recent.push(sample);
    }
    return recent;
  }

  count(status: (status: number) => boolean): number {
    return [...this.statuses].reduce((sum, [code, count]) => sum + (status(code) ? count : 0), 0);
  }

  #verdictOf(entry: Entry, status: number, text: string): Attempt {
    if (status === 201) return { verdict: 'receipt', status, createdAt: this.#readReceipt(entry, text) };
    if (status === 0 || status === 409 || status >= 500) {
      if (status === 500) this.invalidAnswers.push(`500: ${text}`);
      return { verdict: 'ambiguous', status };
    }
    this.invalidAnswers.push(`${status} for a valid event: ${text.slice(0, 300)}`);
    return { verdict: 'refused', status };
  }

  /** Checks that the receipt repeats the event, and takes its time. */
  #readReceipt({ body }: Entry, text: string): string {
    const { created_at, ...echoed } = JSON.parse(text) as Record<string, string>;
    const expected = {
      automation: body.automation_id,
      execution_id: body.execution_id,
      type_of_event: body.event,
      description: body.description,
      error_id: body.error_id ?? '',
      error_description_detail: body.error_description ?? '',
    };
    if (!Object.entries(expected).every(([field, value]) => echoed[field] === value)) {
      this.invalidAnswers.push(`receipt does not repeat the event: ${text.slice(0, 300)}`);
    }
    return created_at ?? '';
  }
}
