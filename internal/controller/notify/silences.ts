import type { Alertmanager } from './alertmanager.ts';
import type { Quiet } from './quiet-alerts.ts';

/** How long a silence lasts unless it is renewed, in ms: a controller that dies silences nobody. */
const lastsMs = 300_000;

/**
 * The silences that one process keeps in an Alertmanager. It renews them as long as they are
 * wanted, and ends them then.
 */
export class Silences {
  readonly #alertmanager: Alertmanager;
  readonly #kept = new Map<string, { id: string; startsAt: string; endsAt: number }>();

  constructor(alertmanager: Alertmanager) {
    this.#alertmanager = alertmanager;
  }

  /** Makes these the only silences. @throws {Error} with what the Alertmanager says against it. */
  async keep(wanted: readonly Quiet[], now = Date.now()): Promise<void> {
    const keys = new Set(wanted.map(({ matchers }) => JSON.stringify(matchers)));
    for (const [key, { id }] of this.#kept) {
      if (keys.has(key)) continue;
      await this.#alertmanager.endSilence(id);
      this.#kept.delete(key);
    }
    for (const { matchers, comment } of wanted) {
      const key = JSON.stringify(matchers);
      const kept = this.#kept.get(key);
      if (kept !== undefined && kept.endsAt - now > lastsMs / 2) continue;
      const [startsAt, endsAt] = [kept?.startsAt ?? new Date(now).toISOString(), now + lastsMs];
      const silence = { id: kept?.id, matchers, comment, startsAt, endsAt: new Date(endsAt).toISOString() };
      this.#kept.set(key, { id: await this.#alertmanager.silence(silence), startsAt, endsAt });
    }
  }
}
