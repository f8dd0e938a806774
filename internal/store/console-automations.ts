import { unavailable } from '../kit/errors/request-error.ts';
import type { Database, Tables } from './database.ts';
import { isForbidden, isTimeout, isUnavailable } from './errors.ts';
import { sql, type Selectable, type Transaction } from './sql.ts';
import type { ConsoleAutomationsTable } from './tables/owners-tables.ts';

export type ConsoleAutomation = Selectable<ConsoleAutomationsTable>;

/**
 * Most automations that an organization may declare in the console; the bound for resources is the
 * same.
 */
const most = 10_000;

/** Reads and writes the declarations that owners make in the console. */
export class ConsoleAutomations {
  readonly #databaseOf: (organization: string) => Database;

  constructor(databaseOf: (organization: string) => Database) {
    this.#databaseOf = databaseOf;
  }

  /** The spec of an automation; undefined if nobody declared it in the console. */
  async get(organization: string, automationId: string): Promise<unknown> {
    const row = await this.#within(organization, (trx) =>
      trx
        .selectFrom('console_automations')
        .select('spec')
        .where('organization', '=', organization)
        .where('automation_id', '=', automationId)
        .executeTakeFirst(),
    );
    return row?.spec;
  }

  /**
   * Creates or replaces a declaration. Resolves with false when the organization has reached its
   * bound.
   */
  async save(organization: string, automationId: string, spec: object): Promise<boolean> {
    const insert = sql`
      insert into console_automations (organization, automation_id, spec)
      select ${organization}, ${automationId}::uuid, ${JSON.stringify(spec)}::jsonb
      where (select count(*) from console_automations where organization = ${organization}
        and automation_id <> ${automationId}::uuid) < ${sql.lit(most)}
      on conflict (organization, automation_id) do update set spec = excluded.spec, generation = excluded.generation
    `;
    const { numAffectedRows = 0n } = await this.#within(organization, (trx) => insert.execute(trx));
    return numAffectedRows > 0n;
  }

  async remove(organization: string, automationId: string): Promise<void> {
    const gone = (trx: Transaction<Tables>) =>
      trx
        .deleteFrom('console_automations')
        .where('organization', '=', organization)
        .where('automation_id', '=', automationId)
        .execute();
    await this.#within(organization, gone);
  }

  #within<T>(organization: string, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return withinOrganization(this.#databaseOf(organization), organization, work);
  }
}

/**
 * Works on what owners declare. A user in runledger_reader sees and writes rows of this
 * organization only.
 * @throws {RequestError} when Postgres cannot serve it now.
 */
export function withinOrganization<T>(
  db: Database,
  organization: string,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return serveOwned(() =>
    db.transaction().execute(async (trx) => {
      await sql`select set_config('runledger.organization', ${organization}, true)`.execute(trx);
      return work(trx);
    }),
  );
}

/** @throws {RequestError} when Postgres cannot serve it now. */
export async function serveOwned<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (!isForbidden(error) && !isTimeout(error) && !isUnavailable(error)) throw error;
    throw unavailable('Declarations cannot be read or written now.', error);
  }
}

/** All console declarations of a database, for a controller. */
export async function readConsoleAutomations(trx: Transaction<Tables>): Promise<ConsoleAutomation[]> {
  return trx.selectFrom('console_automations').selectAll().execute();
}

/** A text that changes whenever a declaration of the console does. */
export async function versionOfConsole(trx: Transaction<Tables>): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select concat(
      (select concat(count(*), '/', max(generation)) from console_automations), '/',
      (select concat(count(*), '/', max(generation)) from console_channels)
    ) as version
  `.execute(trx);
  return rows[0]?.version ?? '';
}
