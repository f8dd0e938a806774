import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Archive } from '../../internal/record/archive/archive.ts';
import { ArchiveReader } from '../../internal/record/archive/archive-reader.ts';
import type { Database } from '../../internal/store/database.ts';
import type { CompactionSizes } from '../../internal/store/compacted/compact.ts';
import { maintain } from '../../internal/store/partitions/maintain.ts';
import { runExport } from './export.ts';
import { keepAll } from './maintenance-day.ts';
import type { TestDatabase } from './store.ts';

/**
 * Exports all days of a database, makes those cold that are older than two days, and compacts.
 * @param folder or the address of a bucket.
 */
export async function makeCold(
  { db, url, compaction }: Pick<TestDatabase, 'db' | 'url'> & { compaction?: CompactionSizes },
  folder: string,
  env: Record<string, string> = {},
  ...args: string[]
): ReturnType<typeof maintain> {
  const place = addressOf(folder);
  const run = { ...keepAll, now: Date.now() };
  await maintain(db, run);
  const exported = await runExport({ DATABASE_URL: url, ARCHIVE_URL: place, HOT_DAYS: '2', ...env }, args);
  expect(exported.code, exported.stderr).to.equal(0);
  const archive = new Archive(db, place);
  try {
    return await maintain(db, {
      ...run,
      hotDays: 2,
      findArchived: (...args) => archive.find(...args),
      ...(compaction && { compaction }),
    });
  } finally {
    await archive.close();
  }
}

/** The database, whose queries read its cold days in a folder or bucket. */
export function withArchive(db: Database, folder: string): Database {
  return new ArchiveReader(addressOf(folder)).of(db);
}

function addressOf(folder: string): string {
  return folder.includes('://') ? folder : pathToFileURL(folder).href;
}
