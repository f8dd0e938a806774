import { Repeating } from '../../kit/async/repeating.ts';
import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import { insertUndeclared } from './undeclared.ts';

/** Time between two looks for names, in ms. */
const everyMs = 5_000;

/** Maximum number of named undeclared automations per organization: the console reads as many. */
const mostNamed = 2_000;

/** What an organization's tools call an automation. */
interface Name {
  readonly organization: string;
  readonly automationId: string;
  readonly name: string;
}

/** The names that wait to be stored: `AutomationNames` of `internal/queue`. */
export interface WaitingNames {
  read(): Promise<ReadonlyMap<string, Name>>;
  forget(fields: readonly string[]): Promise<void>;
}

export interface NameKeeperOptions {
  names: WaitingNames;
  databaseOf: (organization: string) => Database;
  logger: Logger;
}

/** Stores the names that tools give to undeclared automations. */
export class NameKeeper {
  readonly name = 'names';
  readonly #options: NameKeeperOptions;
  readonly #runs = new Repeating(async () => {
    await this.runOnce();
    return everyMs;
  });

  constructor(options: NameKeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#runs.start();
  }

  async stop(): Promise<void> {
    await this.#runs.stop();
  }

  /** Stores the waiting names. Never rejects: names that remain are stored later. */
  async runOnce(): Promise<void> {
    const { names, databaseOf, logger } = this.#options;
    const retry = (error: unknown): void => {
      logger.debug({ error }, 'names of automations cannot be kept, retrying');
    };
    const waiting = await names.read().catch(retry);
    const byDatabase = Map.groupBy(waiting ?? [], ([, { organization }]) => databaseOf(organization));
    for (const [db, some] of byDatabase) {
      const kept = keep(
        db,
        some.map(([, name]) => name),
      );
      await kept.then(() => names.forget(some.map(([field]) => field))).catch(retry);
    }
  }
}

async function keep(db: Database, names: readonly Name[]): Promise<void> {
  const found = sql`
    select organization, automation_id, display_name from unnest(
      ${names.map(({ organization }) => organization)}::text[], ${names.map((one) => one.automationId)}::uuid[],
      ${names.map(({ name }) => name)}::text[]
    ) as n (organization, automation_id, display_name)
    where (
      select count(*) from automations a where a.organization = n.organization and not a.declared
    ) < ${sql.lit(mostNamed)}
  `;
  await db.transaction().execute((trx) => insertUndeclared(trx, found, Date.now()));
}
