import { createHash, hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FormatName } from '../formats/formats.ts';
import type { ColdObject } from '../../store/tables/cold-days-table.ts';
import type { EventSet, RowChanges } from '../../store/partitions/event-days.ts';
import {
  folderOfDay,
  manifestSuffix,
  numbersWithManifest,
  objectName,
  parseManifest,
  readManifestText,
  type ArchivedDay,
  type Manifest,
} from './manifest.ts';
import { NoSuchObject, type Objects } from './objects.ts';

/** A day of an organization, with all objects of that organization in the archive. */
export interface DayInArchive {
  objects: Objects;
  /** The names of the organization's objects. */
  names: readonly string[];
  day: ArchivedDay;
}

/** An object of the archive, and what had changed its rows when it was written. */
export interface HeldDay extends ColdObject {
  readonly changes: RowChanges;
}

/**
 * An object that has exactly these events, as erasures and sealings left them, and the SHA-256 of
 * its manifest; undefined if there is none. Reads the object.
 */
export async function findHolder(
  { objects, names, day }: DayInArchive,
  formats: readonly FormatName[],
  events: EventSet,
): Promise<HeldDay | undefined> {
  const folder = folderOfDay(day);
  for (const format of formats) {
    for (const number of numbersWithManifest(names, day, format)) {
      const object = objectName(number, format);
      const content = await readManifestText(objects, folder, object);
      const manifest = parseManifest(`${folder}${object}${manifestSuffix}`, content);
      const { rows, ids, erased_texts: erasedTexts, sealings } = manifest;
      const isSame = isDeepStrictEqual({ rows, ids, erasedTexts, sealings }, events) && manifest.object === object;
      if (isSame && (await isIntact(objects, folder, manifest)))
        return { ...day, object, rows, manifestSha256: hash('sha256', content), changes: { erasedTexts, sealings } };
    }
  }
  return undefined;
}

async function isIntact(objects: Objects, folder: string, { object, sha256 }: Manifest): Promise<boolean> {
  const hash = createHash('sha256');
  try {
    for await (const piece of objects.read(`${folder}${object}`)) hash.update(piece);
  } catch (error) {
    if (error instanceof NoSuchObject) return false;
    throw error;
  }
  return hash.digest('hex') === sha256;
}
