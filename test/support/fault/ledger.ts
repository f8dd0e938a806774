import type { RequestTexts } from '../../../internal/event/fields.ts';
import type { EventKind } from '../../../internal/event/schema.ts';

/** What a caller sends. */
export interface Body extends RequestTexts {
  automation_id: string;
  execution_id: string;
  event: EventKind;
  description: string;
  occurred_at?: string;
}

/** A request that was begun and ended when (ms of the monotonic clock), and its status. */
export interface Sample {
  begun: number;
  ended: number;
  /** 0 when there was no answer. */
  status: number;
}

export interface Attempt {
  /**
   * What the caller knows. `receipt`: 201. `ambiguous`: 5xx, 409, or no answer; the event may be
   * stored or not. `refused`: a 4xx, so it must not be stored.
   */
  verdict: 'receipt' | 'ambiguous' | 'refused';
  status: number;
  /** The time that a receipt says. */
  createdAt?: string;
}

/** One event that a caller wanted recorded, and every attempt. Its `description` is unique. */
export interface Entry {
  body: Body;
  idempotencyKey: string | undefined;
  attempts: Attempt[];
}

/** Writes down every request and every answer. */
export class Ledger {
  readonly entries: Entry[] = [];
  /** Answers that no request of a correct client may get, in words. */
  readonly invalidAnswers: string[] = [];
  readonly samples: Sample[] = [];
  readonly statuses = new Map<number, number>();
  slowest503Ms = 0;

  open(body: Body, idempotencyKey: string | undefined): Entry {
    const entry: Entry = { body, idempotencyKey, attempts: [] };
    this.entries.push(entry);
    return entry;
  }

  /** Adds the answer to an attempt. `text` is its body. */
  record(entry: Entry, sample: Sample, text: string): Attempt {
    const { status, begun, ended } = sample;
    this.samples.push(sample);
    this.statuses.set(status, this.count(status) + 1);
    if (status === 503) this.slowest503Ms = Math.max(this.slowest503Ms, ended - begun);
    const attempt = this.#verdictOf(entry, status, text);
    entry.attempts.push(attempt);
    return attempt;
  }

  /** How many requests got one of these statuses. */
  count(...statuses: number[]): number {
    return statuses.reduce((sum, status) => sum + (this.statuses.get(status) ?? 0), 0);
  }

  /** Requests begun since a time (`performance.now()`). */
  since(time: number): Sample[] {
    const before = this.samples.findLastIndex(({ ended }) => ended < time);
    return this.samples.slice(before + 1).filter(({ begun }) => begun >= time);
  }

  #verdictOf(entry: Entry, status: number, text: string): Attempt {
    if (status === 201) return { verdict: 'receipt', status, createdAt: this.#readReceipt(entry, text) };
    if (status === 500) this.invalidAnswers.push(`500: ${text}`);
    if (status === 0 || status === 409 || status >= 500) return { verdict: 'ambiguous', status };
    this.invalidAnswers.push(`${status} for a valid event: ${text.slice(0, 300)}`);
    return { verdict: 'refused', status };
  }

  /** Checks that the receipt repeats the event, and returns its time. */
  #readReceipt({ body }: Entry, text: string): string {
    const { created_at = '', ...echoed } = JSON.parse(text) as Record<string, string>;
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
    return created_at;
  }
}

/** The times of an event's receipts. With an Idempotency-Key equal receipts are of one event. */
export function receiptsOf({ attempts, idempotencyKey }: Entry): string[] {
  const times = attempts.flatMap(({ createdAt }) => createdAt ?? []);
  return idempotencyKey === undefined ? times : [...new Set(times)];
}
