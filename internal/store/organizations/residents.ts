import type { Database, Tables } from '../database.ts';
import { sql, type Transaction } from '../sql.ts';
import { closedHere } from './here.ts';
import { firstDatabase, readPlaces, type Place } from './organization-map.ts';

/** The tables with the controller's state of an organization. Notices go with their alerts. */
const stateTables = [
  'automations',
  'channels',
  'alerts',
  'deliveries',
  'scheduled_runs',
  'known_organizations',
] as const;

/**
 * The organizations of one database among several, as its controller sees them in a tick. A move
 * holds the tick lock while it changes the map, so the map is constant during a tick.
 */
export class Residents {
  readonly #name: string;
  readonly #first: Database;
  #places: ReadonlyMap<string, Place> = new Map();
  #version = '';

  /** @param first the database of the map. */
  constructor(name: string, first: Database) {
    this.#name = name;
    this.#first = first;
  }

  /** Changes when the map does. */
  get version(): string {
    return this.#version;
  }

  isHere(organization: string): boolean {
    return (this.#places.get(organization)?.database ?? firstDatabase) === this.#name;
  }

  /**
   * Reads the map at the start of a tick. Deletes the state of organizations that are elsewhere: a
   * move may have stopped after its copy. Rejects while the first database is
   * unavailable, so that no tick uses an old map.
   */
  async prepare(trx: Transaction<Tables>): Promise<void> {
    this.#places = await readPlaces(this.#first);
    const all = Array.from(this.#places, ([organization, { database }]) => [organization, database] as const);
    this.#version = JSON.stringify(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const elsewhere = all.filter(([, database]) => database !== this.#name).map(([organization]) => organization);
    // The map does not name an organization whose first move to this database has not ended.
    const onTheirWay = (await closedHere(trx)).filter((organization) => !this.isHere(organization));
    await deleteState(trx, [...elsewhere, ...onTheirWay]);
  }
}

/** Deletes the controller's state of organizations. */
export async function deleteState(trx: Transaction<Tables>, organizations: readonly string[]): Promise<void> {
  if (organizations.length === 0) return;
  for (const table of stateTables) {
    await sql`delete from ${sql.table(table)} where organization = any(${organizations}::text[])`.execute(trx);
  }
}
