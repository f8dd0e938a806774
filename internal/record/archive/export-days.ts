import type { Database } from '../../store/database.ts';
import { coldObjectsOf } from '../../store/partitions/cold-days.ts';
import { dayAfter } from '../../store/partitions/days.ts';
import type { FormatName } from '../formats/formats.ts';
import { countChanges, listEventDays, measureEventDay, organizationsOfDay } from '../../store/partitions/event-days.ts';
import { exportDay, type DayExport } from './export-day.ts';
import { findHolder } from './holder.ts';
import {
  folderOfDay,
  folderOfOrganization,
  numberOfObject,
  numbersWithManifest,
  objectName,
  parseManifest,
  readManifestText,
  type ArchivedDay,
  type Manifest,
} from './manifest.ts';

/** The days to export, and where to write them. */
export interface DaysExport extends Omit<DayExport, 'onPage' | 'changes'> {
  db: Database;
  /** Which organizations are exported. Default: all. */
  isWanted?: (organization: string) => boolean;
  /** Only days that begin at or after `from` and end at or before `to`, in ms. */
  from: number;
  to: number;
  /**
   * Days before it (ms) are compared with Postgres even if they have a manifest. A day with events
   * that the archive lacks becomes another object.
   */
  recheckBefore: number;
  onProgress?: (progress: Progress) => void;
  onWritten?: (manifest: Manifest) => void;
}

/** How far an export has come. */
export interface Progress extends ArchivedDay {
  /** Days of organizations that are done. */
  done: number;
  total: number;
  /** Events written. */
  events: number;
}

/** The result of an export. */
export interface DaysExported {
  /** Days of organizations that it wrote, and those that were already there. */
  written: number;
  kept: number;
  /** Events written. */
  events: number;
}

/**
 * Exports each day of each organization that has no manifest yet, oldest first. After an error the
 * next run continues with the unfinished day.
 */
export async function exportDays(run: DaysExport): Promise<DaysExported> {
  const days = await daysToExport(run);
  const names = new Map<string, readonly string[]>();
  const exported: DaysExported = { written: 0, kept: 0, events: 0 };
  for (const [done, day] of days.entries()) {
    run.signal?.throwIfAborted();
    const show = (): void => run.onProgress?.({ ...day, done, total: days.length, events: exported.events });
    show();
    const listed = names.get(day.organization) ?? (await run.objects.list(folderOfOrganization(day.organization)));
    names.set(day.organization, listed);
    const number = await nextNumber(run, listed, day);
    if (number === undefined) {
      await appendMissingActs(run, listed, day);
      exported.kept += 1;
      continue;
    }
    const onPage = (more: number): void => {
      exported.events += more;
      show();
    };
    const changes = await countChanges(run.db, day.organization, day.day);
    const manifest = await exportDay({ ...run, changes, onPage }, day, number);
    run.onWritten?.(manifest);
    exported.written += 1;
  }
  return exported;
}

/** Appends the acts of manifests that a crash kept out of the log. */
async function appendMissingActs(
  { acts, objects, format }: DaysExport,
  names: readonly string[],
  day: ArchivedDay,
): Promise<void> {
  if (acts === undefined) return;
  const folder = folderOfDay(day);
  for (const object of numbersWithManifest(names, day, format).map((number) => objectName(number, format))) {
    if (await acts.has(day, object)) continue;
    const content = await readManifestText(objects, folder, object);
    await acts.append(parseManifest(object, content), content);
  }
}

async function daysToExport({ db, from, to, isWanted = () => true }: DaysExport): Promise<ArchivedDay[]> {
  const days = (await listEventDays(db, to)).filter((day) => day >= from && dayAfter(day) <= to);
  const found: ArchivedDay[] = [];
  for (const day of days) {
    const wanted = (await organizationsOfDay(db, day)).filter((organization) => isWanted(organization));
    found.push(...wanted.map((organization) => ({ organization, day })));
  }
  return found;
}

/** The number of the object to write; undefined if the archive has the day. */
async function nextNumber(
  { db, objects, format, acts, recheckBefore }: DaysExport,
  names: readonly string[],
  day: ArchivedDay,
): Promise<number | undefined> {
  const [known] = numbersWithManifest(names, day, format);
  const next = 1 + Math.max(known ?? 0, await newestColdObject(db, format, day));
  if (known === undefined) return next;
  if (day.day >= recheckBefore) return undefined;
  const events = await measureEventDay(db, day.organization, day.day);
  // Retention has just dropped the day.
  if (events.rows === 0) return undefined;
  const holder = await findHolder({ objects, names, day }, [format], events);
  if (holder === undefined) return next;
  const { id } = parseManifest(holder.object, await readManifestText(objects, folderOfDay(day), holder.object));
  // One written before there was a log can have no act, and workers wait for the act.
  return id === null && acts !== undefined ? next : undefined;
}

/**
 * The number of the newest object that is the only place of its events, even if its manifest is
 * gone: no export may write over it.
 */
async function newestColdObject(db: Database, format: FormatName, day: ArchivedDay): Promise<number> {
  const objects = await coldObjectsOf(db, [day]);
  return Math.max(0, ...objects.flatMap(({ object }) => numberOfObject(object, format) ?? []));
}
