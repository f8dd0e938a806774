import { Repeating } from '../../kit/async/repeating.ts';
import { within } from '../../kit/async/within.ts';
import type { Database } from '../database.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';

/** The name of `DATABASE_URL`. It has the map, and each organization that the map does not name. */
export const firstDatabase = 'first';

/** Where an organization is. */
export interface Place {
  database: string;
  /**
   * A snapshot of that database from when the organization arrived; undefined if it was always
   * there.
   */
  streamSince: string | undefined;
}

/** Time between two reads, and longest duration of one, in ms. */
const intervalMs = 2_000;
const longestMs = 5_000;

const always: Place = { database: firstDatabase, streamSince: undefined };

/** Reads the map of organizations that are, or were, not in the first database. */
export async function readPlaces(first: Database): Promise<ReadonlyMap<string, Place>> {
  const rows = await first
    .selectFrom('organization_databases')
    .select(['organization', 'database', 'stream_since'])
    .execute();
  return new Map(
    rows.map(({ organization, database, stream_since }) => [
      organization,
      { database, streamSince: stream_since ?? undefined },
    ]),
  );
}

/**
 * The map from organizations to databases, read again every 2 s. While the first database is
 * unavailable, the last map stays in use; the database that an organization has left meanwhile
 * refuses it.
 */
export class OrganizationMap {
  readonly name = 'map of organizations';
  readonly #first: Database;
  readonly #logger: Logger;
  readonly #looks = new Repeating(() => this.#look());
  #places: ReadonlyMap<string, Place> | undefined;
  #reading: Promise<void> | undefined;

  constructor(first: Database, logger: Logger) {
    this.#first = first;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  /** True once the map has been read. */
  get isKnown(): boolean {
    return this.#places !== undefined;
  }

  /** Where the organization was at the last read. @throws before the first read. */
  placeOf(organization: string): Place {
    if (this.#places === undefined) throw new Error('the map of organizations has not been read yet');
    return this.#places.get(organization) ?? always;
  }

  /** Reads the map now. Rejects while the first database is unavailable; the last map stays. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    this.#places = await within(longestMs, readPlaces(this.#first));
  }

  async #look(): Promise<number> {
    await this.refresh().catch((error: unknown) => {
      this.#logger.warn({ error }, 'cannot read the map of organizations, keeping the last one');
    });
    return intervalMs;
  }
}
