import { Connection, type Answer } from '../../internal/client/connection.ts';
import { reasonOf } from '../../internal/client/reason.ts';
import { type ClientSettings, SettingError } from '../../internal/config/client-settings.ts';
import type { Attempt, Outgoing } from '../../internal/outbox/outgoing.ts';

/** Longest silence of Runledger, in ms. Then the attempt has failed. */
const answerTimeoutMs = 10_000;

/** Statuses of an event that Runledger will never take. */
const final: ReadonlySet<number> = new Set([400, 413, 422]);

/** An event this old is not tried without its time, in ms. */
const oldMs = 80 * 24 * 3_600_000;

/** Sends events to ingest, and notes why it could not. */
export class Delivery {
  readonly #settings: ClientSettings;
  readonly #note: (problem: string) => void;
  #connection: Connection | undefined;

  constructor(settings: ClientSettings, note: (problem: string) => void) {
    this.#settings = settings;
    this.#note = note;
  }

  /** Sends an event once. Never rejects. */
  readonly send = async (event: Outgoing): Promise<Attempt> => {
    try {
      // Settings may be right the next time: a file that is not there yet.
      this.#connection ??= new Connection({ ...this.#settings.ingest(), timeoutMs: answerTimeoutMs });
      const answer = await this.#post(this.#connection, event, event.body);
      const timeless = isTimeRefused(answer) && Date.now() - event.at < oldMs;
      // The clock of this machine is ahead: the time of acceptance is better than none.
      return this.#resultOf(timeless ? await this.#post(this.#connection, event, withoutTime(event.body)) : answer);
    } catch (error) {
      this.#note(error instanceof SettingError ? error.message : reasonOf(error, 'Runledger'));
      return 'failed';
    }
  };

  close(): void {
    this.#connection?.close();
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
