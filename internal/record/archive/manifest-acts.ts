import { createIdentitySource } from '../../event/identity.ts';
import { readAct } from '../../ledger/act.ts';
import type { MacKey } from '../../ledger/mac.ts';
import { appendGivenAct } from '../../store/ledger/append-act.ts';
import type { Database } from '../../store/database.ts';
import { isoDay } from '../../store/partitions/days.ts';
import { sql } from '../../store/sql.ts';
import { actOfManifest } from './manifest-act.ts';
import type { ArchivedDay, Manifest } from './manifest.ts';

/**
 * Writes the SHA-256 of each manifest to the log as an act, so that nobody can remove or rewrite a
 * day of the archive unseen. The act follows the manifest: the log never names one that is not
 * there.
 */
export class ManifestActs {
  /** The name of the writer in manifests and acts. */
  readonly by = 'export';
  readonly #db: Database;
  readonly #key: MacKey;
  readonly #identify = createIdentitySource();
  /** The objects of each organization that the log knows, once read. */
  readonly #known = new Map<string, Promise<Set<string>>>();

  constructor(db: Database, key: MacKey) {
    this.#db = db;
    this.#key = key;
  }

  newId(): string {
    return this.#identify().id;
  }

  /** Writes the act of a manifest that was written with a log. */
  async append(manifest: Manifest, content: string): Promise<void> {
    const act = actOfManifest(manifest, content);
    if (act !== undefined) await appendGivenAct(this.#db, this.#key, act);
  }

  /** True if the log knows the manifest of an object. */
  async has({ organization, day }: ArchivedDay, object: string): Promise<boolean> {
    const known = this.#known.get(organization) ?? this.#read(organization);
    this.#known.set(organization, known);
    return (await known).has(`${isoDay(day)} ${object}`);
  }

  async #read(organization: string): Promise<Set<string>> {
    const { rows } = await sql<{ act: string }>`
      select act from log_acts where organization = ${organization} and act::jsonb ->> 'act' = 'manifest'
    `.execute(this.#db);
    return new Set(rows.map(({ act }) => readAct(act).details).map(({ day, object }) => `${day} ${object}`));
  }
}
