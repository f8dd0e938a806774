import { rm } from 'node:fs/promises';
import { exportDay } from '../../internal/record/archive/export-day.ts';
import type { ManifestActs } from '../../internal/record/archive/manifest-acts.ts';
import { folderOfDay, objectName } from '../../internal/record/archive/manifest.ts';
import { openObjects } from '../../internal/record/archive/open-objects.ts';
import type { FormatName } from '../../internal/record/formats/formats.ts';
import { writeErasure } from '../../internal/ledger/erasure.ts';
import { getCheckpoint } from '../../internal/record/ledger.ts';
import { createQueries } from '../../internal/record/queries.ts';
import type { Database } from '../../internal/store/database.ts';
import { dayOf } from '../../internal/store/partitions/days.ts';
import { listErasures } from '../../internal/store/erase/list-erasures.ts';
import { servedBy } from './sealed-ledger.ts';
import type { testFiles } from './test-files.ts';

type Files = ReturnType<typeof testFiles>;

/** Writes what the console serves of the log of acme; resolves with the folder. */
export async function writeServed(db: Database, files: Files, name = 'served'): Promise<string> {
  await rm(files.path(name), { recursive: true, force: true });
  for (const [path, content] of await servedBy(db, [])) await files.write(`${name}/${path}`, content);
  return files.path(name);
}

/** Exports the day of acme, with its manifest; resolves with the path of the file. */
export async function writeExport(
  db: Database,
  files: Files,
  {
    at,
    format = 'ndjson',
    acts,
    name = 'archive',
  }: { at: number; format?: FormatName; acts?: ManifestActs; name?: string },
): Promise<string> {
  const day = { organization: 'acme', day: dayOf(at) };
  const objects = await openObjects(files.path(name));
  const checkpointOf = async (id: string) => (await getCheckpoint(db, id))?.note;
  const run = {
    record: createQueries(db),
    objects,
    format,
    checkpointOf,
    acts,
    changes: { erasedTexts: 0, sealings: 0 },
  };
  await exportDay(run, day, 1);
  return files.path(`${name}/${folderOfDay(day)}${objectName(1, format)}`);
}

/** The arguments that check an export of acme as it is now. */
export async function exportArguments(db: Database, files: Files, at: number): Promise<string[]> {
  const log = ['--log', await writeServed(db, files)];
  const records: string[] = [];
  for await (const erasure of listErasures(db, 'acme')) records.push(writeErasure(erasure));
  const erasures = records.length === 0 ? [] : ['--erasures', await files.write('erasures', records.join('\n'))];
  return [...log, '--export', await writeExport(db, files, { at }), ...erasures];
}
