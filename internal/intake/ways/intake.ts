import { RequestError, Unavailable, type FieldError, type RequestErrorCode } from '../../kit/errors/request-error.ts';
import { acceptEvent, type AcceptedEvent, type EventGroup, type EventIdentity } from '../../event/event.ts';
import type { RepeatKey } from '../../event/repeat-key.ts';
import type { EventRequest } from '../../event/schema.ts';
import { ignoredFields, IgnoredFields } from '../bodies/ignored-fields.ts';

/** Most events of a request. */
export const mostEvents = 500;

/**
 * Makes events durable in one commit. Resolves with each group as first accepted, in order, or with
 * an error for one whose key cannot be used. With `all`, one error means that none was recorded.
 * Rejects with a {@link RequestError} if none can be recorded now. `withinMs`: what is left of the
 * time for the answer.
 */
export type EnqueueAll = (
  groups: readonly EventGroup[],
  which: 'all' | 'each',
  withinMs?: number,
) => Promise<(readonly AcceptedEvent[] | RequestError)[]>;

export interface IntakeOptions {
  validate: (body: unknown) => EventRequest;
  identify: () => EventIdentity;
  enqueueAll: EnqueueAll;
}

/** What an item asks to record, all or none; nothing if `requests` is empty. */
export interface Requests {
  readonly requests: readonly EventRequest[];
  readonly key: RepeatKey | undefined;
  /** As in {@link EventGroup}. */
  readonly instants?: EventGroup['instants'];
  /** The item's name for the automation; absent if it only has an id. */
  readonly name?: string | undefined;
}

/** An item that can be recorded, or its faults as pointers into the body. */
export type Checked = EventGroup | RequestError;

/** The outcome of an item. */
export type Outcome = readonly AcceptedEvent[] | RequestError;

/** How a way in names its items in errors. */
export interface Naming {
  /** A pointer to an item in the body. */
  pointerOf: (index: number) => string;
  /** The item's field for its key; absent if the caller chose no key. */
  key?: string;
}

/** Points to the items of a list by index. */
export const inList = (index: number): string => `/${index}`;

/**
 * Records the items of one request in any format. Each way in parses its format into {@link
 * Requests}, and turns an {@link Outcome} into its answer.
 */
export class Intake {
  /** The ignored fields that the answer names. */
  readonly ignored = new IgnoredFields();
  readonly #options: IntakeOptions;
  readonly #organization: string;
  readonly #naming: Naming;
  /** The index at which each key first occurred. */
  readonly #keys = new Map<string, number>();

  constructor(organization: string, options: IntakeOptions, naming: Naming = { pointerOf: () => '' }) {
    this.#organization = organization;
    this.#options = options;
    this.#naming = naming;
  }

  /**
   * Checks an item and keeps only its events. `read` throws a {@link RequestError} with pointers
   * into the item.
   */
  check(index: number, read: () => Requests): Checked {
    try {
      const { requests, ...more } = read();
      return { events: requests.map((request) => this.#accept(request)), ...more };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return new RequestError(error.code, error.message, this.#within(index, error.faults));
    }
  }

  /** Records the ignored fields of an event at `place` in the item. */
  ignore(index: number, event: EventRequest, known?: ReadonlySet<string>, place = ''): void {
    const names = ignoredFields(event, known);
    if (names !== undefined) this.ignored.add(this.#naming.pointerOf(index) + place, names);
  }

  /** The index of an earlier item with the same key; undefined if this is the first. */
  sameKey(index: number, key: RepeatKey): number | undefined {
    const name = JSON.stringify(key);
    const first = this.#keys.get(name);
    if (first === undefined) this.#keys.set(name, index);
    return first;
  }

  /** Resolves with the outcome of each item. Of items with equal keys, one is recorded. */
  async recordEach(checked: readonly Checked[], which: 'all' | 'each' = 'each'): Promise<Outcome[]> {
    const groups = new Map<string, EventGroup>();
    for (const [index, one] of checked.entries()) if (isGroup(one)) groups.set(nameOf(one, index), one);
    const results = groups.size === 0 ? [] : await this.#options.enqueueAll([...groups.values()], which);
    const resultOf = new Map([...groups.keys()].map((name, place) => [name, results[place]]));
    return checked.map((one, index) => {
      if (one instanceof RequestError) return one;
      const result = resultOf.get(nameOf(one, index)) ?? [];
      return result instanceof RequestError ? this.#keyRefused(index, result) : result;
    });
  }

  /**
   * Resolves with all events. Rejects, and records none, if an item cannot be recorded; without
   * keys of the caller as {@link requireRecorded} does.
   */
  async recordAll(checked: readonly Checked[]): Promise<AcceptedEvent[]> {
    const invalid = checked.filter((one) => one instanceof RequestError);
    if (invalid.length > 0) throw this.#ofAll(invalid, checked.length, 'invalid-event', 'some are not valid');
    const outcomes = await this.recordEach(checked, 'all');
    const worst = worstOf(outcomes);
    if (worst === undefined || this.#naming.key === undefined) return requireRecorded(outcomes);
    const refused = outcomes.filter((one) => one instanceof RequestError);
    throw this.#ofAll(refused, checked.length, worst.code, 'some keys cannot be used');
  }

  /** Joins several errors. The first one is enough if the caller knows only one item. */
  #ofAll(errors: readonly RequestError[], items: number, code: RequestErrorCode, why: string): RequestError {
    const [first] = errors;
    if (first !== undefined && (items === 1 || this.#naming.key === undefined)) return first;
    const faults = errors.flatMap((error) => error.faults);
    return new RequestError(code, `No event was recorded, because ${why}; see errors.`, faults);
  }

  #accept(request: EventRequest): AcceptedEvent {
    return acceptEvent(request, this.#organization, this.#options.identify());
  }

  #within(index: number, faults: readonly FieldError[]): FieldError[] {
    const at = this.#naming.pointerOf(index);
    return faults.map((fault) => ('pointer' in fault ? { ...fault, pointer: at + fault.pointer } : fault));
  }

  #keyRefused(index: number, error: RequestError): RequestError {
    const { key } = this.#naming;
    if (key === undefined) return error;
    return new RequestError(error.code, error.message, this.#within(index, [{ pointer: key, detail: error.message }]));
  }
}

/**
 * All events of a request whose caller chose no key, and which records all or none.
 * @throws {RequestError} why none was recorded; 503 while an earlier attempt is recording them,
 * since a 409 would refer to a key that the caller never sent.
 */
export function requireRecorded(outcomes: readonly Outcome[]): AcceptedEvent[] {
  const worst = worstOf(outcomes);
  if (worst?.code === 'request-in-progress')
    throw new Unavailable('The same request is being recorded for an earlier attempt.', 'under-way');
  if (worst !== undefined) throw worst;
  return outcomes.flatMap((one) => (one instanceof RequestError ? [] : one));
}

/** A key with another body will never work; one that is under way may work later. */
function worstOf(outcomes: readonly Outcome[]): RequestError | undefined {
  const refused = outcomes.filter((one) => one instanceof RequestError);
  return refused.find(({ code }) => code === 'idempotency-key-reused') ?? refused[0];
}

function isGroup(one: Checked): one is EventGroup {
  return !(one instanceof RequestError) && one.events.length > 0;
}

/** Items without a key get unique names. */
function nameOf({ key }: EventGroup, index: number): string {
  return key === undefined ? String(index) : JSON.stringify(key);
}
