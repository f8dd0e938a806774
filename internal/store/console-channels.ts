import type { Database, Tables } from './database.ts';
import { serveOwned, withinOrganization } from './console-automations.ts';
import { sql, type Selectable, type Transaction } from './sql.ts';
import type { ConsoleChannelsTable } from './tables/owners-tables.ts';

export type ConsoleChannel = Omit<Selectable<ConsoleChannelsTable>, 'sealed'>;

/** Most channels that an organization may make here; the bound for resources is the same. */
const most = 50;

/** Reads and writes the channels that owners make in the console. */
export class ConsoleChannels {
  readonly #databaseOf: (organization: string) => Database;
  readonly #first: Database;

  /** @param first the database with the key of the controller. */
  constructor(databaseOf: (organization: string) => Database, first: Database) {
    this.#databaseOf = databaseOf;
    this.#first = first;
  }

  /** The public key of the controller; undefined until one has published it. */
  async publicKey(): Promise<object | undefined> {
    const rows = await serveOwned(() => this.#first.selectFrom('channel_keys').select('public_key').execute());
    return rows[0]?.public_key;
  }

  /** Those of an organization; a controller takes over what has changed at its next tick. */
  list(organization: string): Promise<{ name: string; type: string }[]> {
    return this.#within(organization, (trx) =>
      trx
        .selectFrom('console_channels')
        .select(['name', sql<string>`spec ->> 'type'`.as('type')])
        .where('organization', '=', organization)
        .orderBy('name')
        .execute(),
    );
  }

  /** Makes a channel. Resolves with false if the name is taken, or the bound is reached. */
  async make(organization: string, { name, spec, sealed }: { name: string; spec: object; sealed: string | null }) {
    const insert = sql`
      insert into console_channels (organization, name, spec, sealed)
      select ${organization}, ${name}, ${JSON.stringify(spec)}::jsonb, ${sealed}
      where (select count(*) from console_channels where organization = ${organization}) < ${sql.lit(most)}
      on conflict do nothing
    `;
    const { numAffectedRows = 0n } = await this.#within(organization, (trx) => insert.execute(trx));
    return numAffectedRows > 0n;
  }

  /** Removes a channel. Resolves with false if there is none. */
  async remove(organization: string, name: string): Promise<boolean> {
    const { numDeletedRows } = await this.#within(organization, (trx) =>
      trx
        .deleteFrom('console_channels')
        .where('organization', '=', organization)
        .where('name', '=', name)
        .executeTakeFirst(),
    );
    return numDeletedRows > 0n;
  }

  #within<T>(organization: string, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return withinOrganization(this.#databaseOf(organization), organization, work);
  }
}

/** All console channels of a database, for a controller. */
export async function readConsoleChannels(trx: Transaction<Tables>): Promise<ConsoleChannel[]> {
  return trx.selectFrom('console_channels').select(['organization', 'name', 'spec', 'generation']).execute();
}
