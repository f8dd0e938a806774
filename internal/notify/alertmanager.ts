import { storable } from '../event/stored-text.ts';
import type { AlertmanagerAlert } from './alertmanager-alert.ts';

/** Most alerts of one request. */
const batch = 500;

/** One Alertmanager: its API v2. */
export class Alertmanager {
  /** What people see: no user name and no password. */
  readonly receiver: string;
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  /** @param url may hold a user name and a password. */
  constructor(url: URL, timeoutMs: number) {
    this.receiver = `alertmanager ${url.protocol}//${url.host}`;
    this.#url = new URL(`${url.pathname.replace(/\/$/, '')}/api/v2/alerts`, url.origin);
    const { username, password } = url;
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    this.#headers = {
      'Content-Type': 'application/json',
      // A minute later the connection may be gone, and a replica stopped.
      Connection: 'close',
      ...(username !== '' && { Authorization: `Basic ${credentials.toString('base64')}` }),
    };
    this.#timeoutMs = timeoutMs;
  }

  /** Tells it about alerts: about all, also if it refuses some. Rejects unless it accepts all. */
  async tell(alerts: readonly AlertmanagerAlert[]): Promise<void> {
    let refusal: Error | undefined;
    for (let from = 0; from < alerts.length; from += batch) {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(alerts.slice(from, from + batch)),
        redirect: 'error',
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      const text = await answer.text();
      if (!answer.ok) refusal ??= new Error(`answered ${answer.status}: ${storable(text, 200)}`);
    }
    if (refusal !== undefined) throw refusal;
  }
}
