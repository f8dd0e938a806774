import { Connection, type Answer } from '../../internal/client/connection.ts';
import { reasonOf } from '../../internal/client/reason.ts';
import { type ClientSettings, SettingError } from '../../internal/config/client-settings.ts';
import type { Attempt, Outgoing } from '../../internal/outbox/outgoing.ts';

/** Longest silence of Runledger, in ms. Then the attempt has failed. */
const answerTimeoutMs = 10_000;

/** Records those of many events that are valid. */
const manyAtOnce = '/v1/register/bulk/?partial=true';

/** Statuses of an event that Runledger will never take. */
const final: ReadonlySet<number> = new Set([400, 413, 422]);

/** An event this old is not tried without its time, in ms. */
const oldMs = 80 * 24 * 3_600_000;

/** Sends events to ingest, and notes why it could not. */
export class Delivery {
  readonly #settings: ClientSettings;
  readonly #note: (problem: string) => void;
  #connection: Connection | undefined;
  #takesMany = true;

  constructor(settings: ClientSettings, note: (problem: string) => void) {
    this.#settings = settings;
    this.#note = note;
  }

  /** Sends an event once. Never rejects. */
  readonly send = async (event: Outgoing): Promise<Attempt> => {
    try {
      const connection = this.#connect();
      const answer = await this.#post(connection, event, event.body);
      const timeless = isTimeRefused(answer) && Date.now() - event.at < oldMs;
      // The clock of this machine is ahead: the time of acceptance is better than none.
      return this.#resultOf(timeless ? await this.#post(connection, event, withoutTime(event.body)) : answer);
    } catch (error) {
      this.#note(error instanceof SettingError ? error.message : reasonOf(error, 'Runledger'));
      return 'failed';
    }
  };

  /** Sends events in one request. Resolves with the keys of those that are recorded. */
  readonly sendMany = async (events: readonly Outgoing[]): Promise<ReadonlySet<string>> => {
    if (!this.#takesMany) return new Set();
    try {
      const keyed = events.map(({ key, body }) => ({ ...(JSON.parse(body) as object), idempotency_key: key }));
      const headers = { 'content-type': 'application/json' };
      const sent = { method: 'POST', path: manyAtOnce, headers, body: JSON.stringify(keyed) } as const;
      const { status, body } = await this.#connect().send(sent);
      // An earlier release of Runledger.
      this.#takesMany = status !== 404 && status !== 405;
      if (status !== 201 && status !== 207) return new Set();
      const failed = status === 201 ? new Set() : failedIn(body);
      return new Set(events.filter((_, index) => !failed.has(index)).map(({ key }) => key));
    } catch {
      // Each event is then tried alone: that attempt says why.
      return new Set();
    }
  };

  close(): void {
    this.#connection?.close();
  }

  /** Settings may be right the next time: a file that is not there yet. */
  #connect(): Connection {
    return (this.#connection ??= new Connection({ ...this.#settings.ingest(), timeoutMs: answerTimeoutMs }));
  }

  #post(connection: Connection, { key }: Outgoing, body: string): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    return connection.send({ method: 'POST', path: '/v1/register/', headers, body });
  }

  #resultOf({ status, body }: Answer): Attempt {
    if (status === 201) return 'recorded';
    this.#note(`Runledger answers ${status}: ${detailOf(body)}`);
    return final.has(status) ? 'refused' : 'failed';
  }
}

interface Problem {
  readonly detail?: unknown;
  readonly errors?: readonly { readonly pointer?: unknown }[];
}

function isTimeRefused({ status, body }: Answer): boolean {
  const { errors } = status === 400 ? problemIn(body) : {};
  return Array.isArray(errors) && errors.length === 1 && errors[0]?.pointer === '/occurred_at';
}

/** The places of the events that are not recorded. @throws if the answer does not name them. */
function failedIn(body: string): ReadonlySet<unknown> {
  const { failed } = JSON.parse(body) as { failed: readonly { readonly index: unknown }[] };
  return new Set(failed.map(({ index }) => index));
}

function withoutTime(body: string): string {
  const { occurred_at: _, ...rest } = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify(rest);
}

function detailOf(body: string): string {
  const { detail } = problemIn(body);
  return typeof detail === 'string' ? detail : 'no problem document';
}

function problemIn(body: string): Problem {
  try {
    return (JSON.parse(body) ?? {}) as Problem;
  } catch {
    return {};
  }
}
