import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { formatNames, type FormatName } from '../formats/formats.ts';
import type { Database } from '../../store/database.ts';
import { dayAfter, isoDay } from '../../store/partitions/days.ts';
import { measureEventDay, organizationsOfDay } from '../../store/partitions/event-days.ts';
import type { DayRange } from '../../store/partitions/partitions.ts';
import type { Archived } from '../../store/partitions/archived.ts';
import { findHolder, type DayInArchive, type HeldDay } from './holder.ts';
import { folderOfDay, numbersWithManifest, type ArchivedDay } from './manifest.ts';
import type { Objects } from './objects.ts';
import { openObjects } from './open-objects.ts';

/** The archive that retention waits for: `runledger-admin export` writes it to ARCHIVE_URL. */
export class Archive {
  readonly #db: Database;
  readonly #url: string;
  readonly #config: S3ClientConfig;
  #objects: Promise<Objects> | undefined;

  constructor(db: Database, url: string, config: S3ClientConfig = {}) {
    this.#db = db;
    this.#url = url;
    this.#config = config;
  }

  /**
   * Compares a partition with the archive: each organization with events on one of its days must
   * have an object with exactly these events and the SHA-256 of its manifest. Reads objects last,
   * and only if no manifest is missing. `forReaders`: objects that readers of cold days can read.
   */
  async find(partition: DayRange, forReaders = false): Promise<Archived> {
    const formats = forReaders ? (['parquet'] as const) : formatNames;
    const found: DayInArchive[] = [];
    for (let day = partition.from; day < partition.to; day = dayAfter(day)) {
      for (const organization of await organizationsOfDay(this.#db, day)) {
        const inArchive = await this.#list({ organization, day }, formats);
        if (inArchive === undefined) return { missing: `no export of ${named({ organization, day })}` };
        found.push(inArchive);
      }
    }
    const holders: HeldDay[] = [];
    for (const inArchive of found) {
      const { organization, day } = inArchive.day;
      const events = await measureEventDay(this.#db, organization, day);
      const holder = await findHolder(inArchive, formats, events);
      if (holder === undefined)
        return { missing: `the export of ${named(inArchive.day)} lacks events, or has changed` };
      holders.push(holder);
    }
    return { rows: holders.reduce((sum, { rows }) => sum + rows, 0), objects: holders };
  }

  async close(): Promise<void> {
    (await this.#objects)?.close();
  }

  /** Undefined without any manifest. */
  async #list(day: ArchivedDay, formats: readonly FormatName[]): Promise<DayInArchive | undefined> {
    const objects = await this.#open();
    const names = await objects.list(folderOfDay(day));
    const exists = formats.some((format) => numbersWithManifest(names, day, format).length > 0);
    return exists ? { objects, names, day } : undefined;
  }

  /** After an error the next call tries again. */
  #open(): Promise<Objects> {
    this.#objects ??= openObjects(this.#url, this.#config).catch((error: unknown) => {
      this.#objects = undefined;
      throw error;
    });
    return this.#objects;
  }
}

function named({ organization, day }: ArchivedDay): string {
  return `${organization} on ${isoDay(day)}`;
}
