import { storable } from '../../event/stored-text.ts';
import { describeError } from '../../kit/telemetry/logger.ts';
import type { AlertmanagerAlert } from './alertmanager-alert.ts';

/** Maximum number of alerts per request. */
const batch = 500;

/** The alerts that an Alertmanager did not accept, and why. */
export interface TellResult {
  problems: ReadonlyMap<AlertmanagerAlert, string>;
  /** True if a request got no answer: it may still take effect. */
  isUnsure: boolean;
}

/** What a silence is about, in the form of Alertmanager's API v2. */
export type Matchers = readonly { name: string; value: string; isRegex: boolean; isEqual: true }[];

/** A silence as an Alertmanager keeps it; times as texts. */
export interface Silence {
  /** Of the one that it replaces, or extends if nothing else differs. */
  id?: string | undefined;
  matchers: Matchers;
  startsAt: string;
  endsAt: string;
  comment: string;
}

interface Reply {
  ok: boolean;
  status: number;
  text: string;
}

/** A client of one Alertmanager's API v2. */
export class Alertmanager {
  /** Its address without user name and password, as people see it, and what the record calls it. */
  readonly address: string;
  readonly receiver: string;
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  /** @param url may hold a user name and a password. */
  constructor(url: URL, timeoutMs: number) {
    this.address = `${url.protocol}//${url.host}`;
    this.receiver = `alertmanager ${this.address}`;
    this.#url = new URL(`${url.pathname.replace(/\/$/, '')}/api/v2/`, url.origin);
    const { username, password } = url;
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    this.#headers = {
      'Content-Type': 'application/json',
      // By the next round, a minute later, the connection may be gone and a replica stopped.
      Connection: 'close',
      ...(username !== '' && { Authorization: `Basic ${credentials.toString('base64')}` }),
    };
    this.#timeoutMs = timeoutMs;
  }

  /** Sends alerts in this order. Never rejects. */
  async tell(alerts: readonly AlertmanagerAlert[]): Promise<TellResult> {
    const problems = new Map<AlertmanagerAlert, string>();
    const parts: (readonly AlertmanagerAlert[])[] = [];
    for (let from = 0; from < alerts.length; from += batch) parts.push(alerts.slice(from, from + batch));
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const answer = await this.#send('POST', 'alerts', part).catch(reasonOf);
      if (typeof answer === 'string') {
        // After a request without an answer, the rest would take too long.
        for (const alert of [part, ...parts].flat()) problems.set(alert, answer);
        return { problems, isUnsure: true };
      }
      if (answer.ok) continue;
      const byOrganization = [...Map.groupBy(part, ({ labels }) => labels['organization']).values()];
      // One bad alert refuses the whole request, so each organization gets its own.
      if (answer.status === 400 && byOrganization.length > 1) parts.unshift(...byOrganization);
      else for (const alert of part) problems.set(alert, `answered ${answer.status}: ${storable(answer.text, 200)}`);
    }
    return { problems, isUnsure: false };
  }

  /** Makes or extends a silence. Resolves with its id. @throws {Error} with the reason. */
  async silence(silence: Silence): Promise<string> {
    const answer = await this.#send('POST', 'silences', { ...silence, createdBy: 'Runledger' });
    // An Alertmanager that has started again may not know it.
    if (answer.status === 404 && silence.id !== undefined) return this.silence({ ...silence, id: undefined });
    if (!answer.ok) throw new Error(`answered ${answer.status}: ${storable(answer.text, 200)}`);
    return (JSON.parse(answer.text) as { silenceID: string }).silenceID;
  }

  /** Ends a silence, if there still is one. @throws {Error} without an answer. */
  async endSilence(id: string): Promise<void> {
    await this.#send('DELETE', `silence/${id}`);
  }

  async #send(method: string, path: string, content?: unknown): Promise<Reply> {
    const answer = await fetch(new URL(path, this.#url), {
      method,
      headers: this.#headers,
      ...(content !== undefined && { body: JSON.stringify(content) }),
      redirect: 'error',
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  }
}

/** The reason of a failed request, which `fetch` hides in the cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return describeError(cause).message;
}
