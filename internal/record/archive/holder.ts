import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FormatName } from '../formats/formats.ts';
import type { EventSet } from '../../store/partitions/event-days.ts';
import {
  folderOfDay,
  numbersWithManifest,
  objectName,
  readManifest,
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

/**
 * The manifest of an object that has exactly these events, as erasures and sealings left them, and
 * the SHA-256 of its manifest; undefined if there is none. Reads the object.
 */
export async function findHolder(
  { objects, names, day }: DayInArchive,
  formats: readonly FormatName[],
  events: EventSet,
): Promise<Manifest | undefined> {
  const folder = folderOfDay(day);
  for (const format of formats) {
    for (const number of numbersWithManifest(names, day, format)) {
      const manifest = await readManifest(objects, folder, objectName(number, format));
      const { rows, ids, erased_texts: erasedTexts, sealings } = manifest;
      const isSame = isDeepStrictEqual({ rows, ids, erasedTexts, sealings }, events);
      if (isSame && (await isIntact(objects, folder, manifest))) return manifest;
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
