import { isDeepStrictEqual } from 'node:util';
import { RequestError, unavailable } from '../kit/errors/request-error.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, Tables } from './database.ts';
import { isForbidden, isTimeout, isUnavailable, movedOrganizations } from './errors.ts';
import { sql, type Selectable, type Transaction } from './sql.ts';
import type { ConsoleAutomationsTable } from './tables/owners-tables.ts';

export type ConsoleAutomation = Selectable<ConsoleAutomationsTable>;

/** Bounds of what an organization may declare here, as for resources. Bytes are those of JSON. */
const most = { automations: 10_000, bytes: 4 * 1_024 * 1_024 };

/** The ids of automations, by what applying declarations does to them. */
export interface Applied {
  created: string[];
  changed: string[];
  unchanged: string[];
  removed: string[];
}

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
   * Creates or replaces declarations, given by id. With `isWhole`, removes all others. `isDryRun`
   * only tells what would happen.
   * @throws {RequestError} if the organization would declare too much, or Postgres cannot serve it.
   */
  apply(
    organization: string,
    specs: ReadonlyMap<string, object>,
    { isWhole = false, isDryRun = false } = {},
  ): Promise<Applied> {
    const wanted = new Map(Array.from(specs, ([id, spec]) => [id, JSON.parse(JSON.stringify(spec)) as object]));
    return this.#within(organization, async (trx) => {
      const lock = sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.consoleAutomations)}, hashtext(${organization}))`;
      await lock.execute(trx);
      const rows = await trx
        .selectFrom('console_automations')
        .select(['automation_id', 'spec'])
        .where('organization', '=', organization)
        .orderBy('automation_id')
        .execute();
      const known = new Map(rows.map((row) => [row.automation_id, row.spec]));
      const [old, created] = partition([...wanted.keys()], (id) => known.has(id));
      const [unchanged, changed] = partition(old, (id) => isDeepStrictEqual(known.get(id), wanted.get(id)));
      const removed = isWhole ? [...known.keys()].filter((id) => !wanted.has(id)) : [];
      requireBounds([...(isWhole ? [] : [...known].filter(([id]) => !wanted.has(id))), ...wanted]);
      if (isDryRun) return { created, changed, unchanged, removed };
      if (removed.length > 0) await removeRows(trx, organization, removed);
      const written = [...created, ...changed].map((id) => ({ automation_id: id, spec: wanted.get(id) }));
      if (written.length > 0) {
        await sql`
          insert into console_automations (organization, automation_id, spec)
          select ${organization}, automation_id, spec
          from jsonb_to_recordset(${JSON.stringify(written)}::jsonb) as new (automation_id uuid, spec jsonb)
          on conflict (organization, automation_id) do update
            set spec = excluded.spec, generation = excluded.generation
        `.execute(trx);
      }
      return { created, changed, unchanged, removed };
    });
  }

  /** Resolves with false if the console does not declare the automation. */
  async remove(organization: string, automationId: string): Promise<boolean> {
    return this.#within(
      organization,
      async (trx) => (await removeRows(trx, organization, [automationId])).numDeletedRows > 0n,
    );
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
    if (movedOrganizations(error)) throw unavailable('The organization moves to another database: try again.', error);
    if (!isForbidden(error) && !isTimeout(error) && !isUnavailable(error)) throw error;
    throw unavailable('Declarations cannot be read or written now.', error);
  }
}

function removeRows(trx: Transaction<Tables>, organization: string, ids: readonly string[]) {
  return trx
    .deleteFrom('console_automations')
    .where('organization', '=', organization)
    .where('automation_id', 'in', ids)
    .executeTakeFirstOrThrow();
}

function partition<T>(items: readonly T[], holds: (item: T) => boolean): [T[], T[]] {
  return [items.filter(holds), items.filter((item) => !holds(item))];
}

function requireBounds(specs: readonly (readonly [id: string, spec: unknown])[]): void {
  const bytes = specs.reduce((sum, [, spec]) => sum + JSON.stringify(spec).length, 0);
  if (specs.length <= most.automations && bytes <= most.bytes) return;
  throw new RequestError('malformed-request', 'The organization would declare more than 10,000 automations, or 4 MiB.');
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
