import { storable } from '../../event/stored-text.ts';
import { alertmanagerNamespace } from '../../expectation/read-channel.ts';
import { Repeating } from '../../kit/async/repeating.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { Database } from '../../store/database.ts';
import { isWaiting } from '../../store/parked-deliveries.ts';
import { sql } from '../../store/sql.ts';
import { testAlert } from './alertmanager-alert.ts';
import type { Alertmanager } from './alertmanager.ts';
import type { ConsoleLinks } from './links.ts';

/** Pause between two looks for a test, in ms. */
const pauseMs = 1_000;

/** Maximum length of a stored answer, in characters. */
const longestError = 500;

/**
 * Lets consoles know the Alertmanagers, and sends them the tests that people ask for: one alert to
 * each of them, without a second attempt. Any number of processes may run it.
 */
export class AlertmanagerTests {
  readonly #db: Database;
  readonly #alertmanagers: readonly Alertmanager[];
  readonly #links: ConsoleLinks;
  readonly #logger: Logger;
  readonly #looks = new Repeating(() => this.#look());
  #isKnown = false;

  constructor(db: Database, alertmanagers: readonly Alertmanager[], links: ConsoleLinks, logger: Logger) {
    this.#db = db;
    this.#alertmanagers = alertmanagers;
    this.#links = links;
    this.#logger = logger;
  }

  start(): void {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  async #look(): Promise<number> {
    try {
      if (!this.#isKnown) await this.#makeKnown();
      for (const test of await this.#claim()) await this.#send(test);
    } catch (error) {
      this.#logger.warn({ error }, 'tests of alertmanagers cannot be read');
    }
    return pauseMs;
  }

  async #makeKnown(): Promise<void> {
    const alertmanagers = this.#alertmanagers.map(({ address }) => address);
    await this.#db.updateTable('controller_state').set({ alertmanagers }).execute();
    this.#isKnown = true;
  }

  /** A process that dies with a test sends it no second time: its answer is lost. */
  async #claim(): Promise<{ organization: string; id: string }[]> {
    if (this.#alertmanagers.length === 0) return [];
    const { rows } = await sql<{ organization: string; id: string }>`
      update deliveries set attempts = attempts + 1, given_up_at = now(), last_error = 'there is no answer'
      where channel_namespace = ${sql.lit(alertmanagerNamespace)} and ${isWaiting}
      returning organization, id
    `.execute(this.#db);
    return rows;
  }

  async #send({ organization, id }: { organization: string; id: string }): Promise<void> {
    const alert = testAlert(organization, this.#links, Date.now());
    const told = this.#alertmanagers.map(async (alertmanager) => {
      const { problems } = await alertmanager.tell([alert]);
      return [...problems.values()].map((problem) => `${alertmanager.address}: ${problem}`);
    });
    const problems = (await Promise.all(told)).flat();
    const error = problems.length === 0 ? null : storable(problems.join('; '), longestError);
    await sql`
      update deliveries set last_error = ${error}, given_up_at = case when ${error}::text is not null then now() end,
        delivered_at = case when ${error}::text is null then now() end
      where organization = ${organization} and id = ${id}::uuid
    `.execute(this.#db);
  }
}
