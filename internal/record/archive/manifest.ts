import { hash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { FormatName } from '../formats/formats.ts';
import type { EventPosition } from '../stored-event.ts';
import { isoDay } from '../../store/partitions/days.ts';
import type { Objects } from './objects.ts';

/** Describes an object. It is stored beside the object, and written after it. */
export interface Manifest {
  version: 1;
  /** The id of the act by which the log knows it, and its author; null without a log. */
  id: string | null;
  by: string | null;
  organization: string;
  /** The UTC day on which the events were accepted: `2026-11-21`. */
  day: string;
  /** The name of the object, in the same folder. */
  object: string;
  format: FormatName;
  rows: number;
  bytes: number;
  /** SHA-256 of the object, in hexadecimal digits. */
  sha256: string;
  /**
   * The parts of the object in order, each with its bytes and its SHA-256 as {@link partOf} writes
   * them: whoever reads a part of the object can check it. In Parquet a part is a row group.
   */
  parts: readonly string[];
  /** The XOR of all ids, in hexadecimal digits. */
  ids: string;
  /** How many of the events had lost their texts to an erasure. */
  erased_texts: number;
  /** How many acts had sealed events of the day that were stored without a log. */
  sealings: number;
  /** Null for a day without events. */
  first: EventPosition | null;
  last: EventPosition | null;
  /**
   * The newest checkpoint of the organization's log when the export began: the object has each
   * event of the day whose leaf it covers. Null without a log.
   */
  checkpoint: string | null;
}

/** A part of an object as its manifest names it: its length in bytes, a space, its SHA-256. */
export function partOf(bytes: Uint8Array): string {
  return `${bytes.length} ${hash('sha256', bytes)}`;
}

/** A day of an organization in an archive. */
export interface ArchivedDay {
  organization: string;
  /** Its midnight, in ms since the Unix epoch. */
  day: number;
}

/** The suffix of a manifest's name, after the name of its object. */
export const manifestSuffix = '.manifest.json';

/**
 * The folder of an organization, ending with a slash. DuckDB and Spark read this form, which is
 * Hive's, as a column.
 */
export function folderOfOrganization(organization: string): string {
  return `organization=${encodeURIComponent(organization)}/`;
}

/** The folder of a day, ending with a slash. */
export function folderOfDay({ organization, day }: ArchivedDay): string {
  return `${folderOfOrganization(organization)}day=${isoDay(day)}/`;
}

/**
 * The name of an object in the folder of its day: `events.parquet`. Events stored later, or a
 * repair, make `events-2.parquet`, and so on.
 */
export function objectName(number: number, format: FormatName): string {
  return number === 1 ? `events.${format}` : `events-${number}.${format}`;
}

/** The numbers of the objects of a day that have a manifest, newest first. */
export function numbersWithManifest(names: readonly string[], day: ArchivedDay, format: FormatName): number[] {
  const folder = folderOfDay(day);
  return names
    .filter((name) => name.startsWith(folder))
    .map((name) => /^events(?:-(\d+))?\.(\w+)\.manifest\.json$/.exec(name.slice(folder.length)))
    .filter((match) => match?.[2] === format)
    .map((match) => Number(match?.[1] ?? 1))
    .sort((a, b) => b - a);
}

/** The number of an object by its name; undefined if it has another format. */
export function numberOfObject(object: string, format: FormatName): number | undefined {
  const match = /^events(?:-(\d+))?\.(\w+)$/.exec(object);
  return match?.[2] === format ? Number(match[1] ?? 1) : undefined;
}

/** The text of a manifest, whose SHA-256 the log has. */
export function readManifestText(objects: Objects, folder: string, object: string): Promise<string> {
  return text(objects.read(`${folder}${object}${manifestSuffix}`));
}

/** @throws an Error with the name when the text is no manifest. */
export function parseManifest(name: string, content: string): Manifest {
  const manifest = Object(JSON.parse(content)) as Partial<Manifest>;
  if (manifest.version !== 1 || !/^\d{4}-\d\d-\d\d$/.test(String(manifest.day))) {
    throw new Error(`${name} is not a manifest of version 1`);
  }
  return manifest as Manifest;
}

/** Writes the manifest of an object, which must be there. Resolves with its text. */
export async function writeManifest(objects: Objects, folder: string, manifest: Manifest): Promise<string> {
  const content = `${JSON.stringify(manifest, undefined, 2)}\n`;
  await objects.write(`${folder}${manifest.object}${manifestSuffix}`, piecesOf(Buffer.from(content)));
  return content;
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
