import { Repeating } from '../kit/async/repeating.ts';
import { settledWithin } from '../kit/async/settled-within.ts';
import type { Logger } from '../kit/telemetry/logger.ts';

/** Time between two rounds, in ms. A person waits for the events of a run that they close. */
const everyMs = 1_000;

/** How long a stop waits for a round, in ms. */
const stopMs = 5_000;

/** Records what owners did in one database, soon after they did it. */
export class ActRecorder {
  readonly name = 'acts';
  readonly #runs: Repeating;

  /** @param record rejects while Postgres is unavailable. */
  constructor(record: () => Promise<void>, logger: Logger) {
    this.#runs = new Repeating(async () => {
      await record().catch((error: unknown) => logger.debug({ error }, 'acts cannot be read, retrying'));
      return everyMs;
    });
  }

  async start(): Promise<void> {
    this.#runs.start();
  }

  async stop(): Promise<void> {
    await settledWithin(stopMs, this.#runs.stop());
  }
}
