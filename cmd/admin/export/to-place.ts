import {
  exportDays,
  type DaysExport,
  type DaysExported,
  type Progress,
} from '../../../internal/record/archive/export-days.ts';
import { ManifestActs } from '../../../internal/record/archive/manifest-acts.ts';
import { folderOfDay, folderOfOrganization, type Manifest } from '../../../internal/record/archive/manifest.ts';
import type { Objects } from '../../../internal/record/archive/objects.ts';
import { openObjects } from '../../../internal/record/archive/open-objects.ts';
import { s3Credentials } from '../../../internal/config/credentials.ts';
import type { MacKey } from '../../../internal/ledger/mac.ts';
import { createQueries } from '../../../internal/record/queries.ts';
import { readClock } from '../../../internal/store/clock.ts';
import { dayOf, daysBefore, isoDay } from '../../../internal/store/partitions/days.ts';
import { hasEvents } from '../../../internal/store/partitions/event-days.ts';
import { withExportLock } from '../../../internal/store/partitions/with-export-lock.ts';
import type { Database } from '../../../internal/store/database.ts';
import type { Context } from '../command.ts';
import { messagesOf, throwIfStopped } from '../messages.ts';
import { noEvents, type Options } from './options.ts';

/** A database to export. */
export interface Source {
  /** Its name in `DATABASE_URLS`; `first` for `DATABASE_URL`. */
  name: string;
  db: Database;
  /** True for the organizations that are exported from it. */
  has: (organization: string) => boolean;
}

/** Where an export prints, and how long Postgres keeps events. */
export interface PlaceSurroundings extends Pick<Context, 'print' | 'signal' | 'show'> {
  /** Days after which events leave Postgres; none if it keeps everything. */
  readonly keptDays: readonly number[];
  /** Writes manifests to the log; undefined without a log. */
  readonly macKey: MacKey | undefined;
}

type Run = Omit<DaysExport, 'db' | 'record' | 'checkpointOf' | 'acts' | 'isWanted'>;

/**
 * Exports the days of all databases into a folder or a bucket, one database after the other. Prints
 * a line for each object, and resolves with a summary sentence.
 * @throws at once when the place cannot be listed; {@link AggregateError} with the errors of all
 * databases, once it has exported what it could.
 */
export async function exportToPlace(
  place: string,
  all: readonly Source[],
  options: Options,
  { keptDays, macKey, print, signal, show }: PlaceSurroundings,
): Promise<string> {
  const objects = await openObjects(place, s3Credentials());
  using closing = new DisposableStack();
  closing.defer(() => objects.close());
  await requirePlace(objects);
  const run: Omit<Run, 'from' | 'to' | 'recheckBefore'> = {
    objects,
    format: options.format ?? 'parquet',
    signal,
    onProgress: ({ organization, day, ...progress }: Progress) =>
      show({ ...progress, part: `${organization} ${isoDay(day)}` }),
    onWritten: (manifest: Manifest) => print(`${describe(manifest)}\n`),
  };
  const total: DaysExported = { written: 0, kept: 0, events: 0 };
  const errors: Error[] = [];
  let settled = Number.NaN;
  for (const source of all) {
    try {
      const { now } = await readClock(source.db);
      settled = dayOf(now - options.settleHours * 3_600_000);
      const range = rangeOf(options, { settled, now, keptDays });
      const { written, kept, events } = await exportFrom(source, { ...run, ...range }, macKey, options.organizations);
      total.written += written;
      total.kept += kept;
      total.events += events;
    } catch (error) {
      if (signal.aborted) break;
      const where = all.length > 1 ? `database ${source.name}: ` : '';
      errors.push(...messagesOf(error).map((message) => new Error(`${where}${message}`, { cause: error })));
    }
  }
  throwIfStopped(signal, 'the next run continues');
  if (errors.length > 0) throw new AggregateError(errors);
  return total.written + total.kept === 0 ? nothingDue(objects, options, settled) : sentenceOf(total, objects);
}

/**
 * Lists the place, so that a wrong one is found before a day is due. No organization has an empty
 * id, so the list is empty.
 */
async function requirePlace(objects: Objects): Promise<void> {
  try {
    await objects.list(folderOfOrganization(''));
  } catch (error) {
    throw new Error(`${objects.where}: ${messagesOf(error).join(', ')}`, { cause: error });
  }
}

/**
 * The days to export, by the clock of Postgres. Days that have not settled are left for a later
 * run. Days that leave Postgres today or tomorrow are compared with it.
 */
function rangeOf(
  { from, to, recheck }: Options,
  { settled, now, keptDays }: { settled: number; now: number; keptDays: readonly number[] },
) {
  const dueBefore = keptDays.length === 0 ? -Infinity : daysBefore(dayOf(now), Math.min(...keptDays) - 1);
  return {
    from: from?.getTime() ?? -Infinity,
    to: Math.min(settled, to?.getTime() ?? Infinity),
    recheckBefore: recheck ? Infinity : dueBefore,
  };
}

async function exportFrom(
  { db, has }: Source,
  run: Run,
  macKey: MacKey | undefined,
  organizations: readonly string[],
): Promise<DaysExported> {
  const record = createQueries(db);
  const acts = macKey === undefined ? undefined : new ManifestActs(db, macKey);
  const checkpointOf = async (id: string) => (await record.getCheckpoint(id))?.note;
  const isWanted = (id: string) => has(id) && (organizations.length === 0 || organizations.includes(id));
  const exported = await withExportLock(db, run.objects.where, () =>
    exportDays({ ...run, db, record, checkpointOf, acts, isWanted }),
  );
  const absent: string[] = [];
  for (const id of new Set(organizations)) if (has(id) && !(await hasEvents(db, id))) absent.push(id);
  if (absent.length > 0) throw noEvents(absent);
  return exported;
}

/** A line as `sha256sum` writes it, with the number of events. */
function describe({ organization, day, object, sha256, rows }: Manifest): string {
  return `${sha256}  ${folderOfDay({ organization, day: Date.parse(day) })}${object}  ${rows} events`;
}

/** @param settled the midnight before which days are due */
function nothingDue({ where }: Objects, { settleHours }: Options, settled: number): string {
  const due = `a day is due ${settleHours} ${settleHours === 1 ? 'hour' : 'hours'} after its end, see --settle-hours`;
  return `${where}: nothing to export: the newest day that is due is ${isoDay(daysBefore(settled, 1))} (${due})`;
}

function sentenceOf({ written, kept, events }: DaysExported, { where }: Objects): string {
  return `${where}: wrote ${count(written)} with ${events.toLocaleString('en')} events; ${count(kept)} were there`;
}

function count(days: number): string {
  return `${days.toLocaleString('en')} ${days === 1 ? 'day' : 'days'} of organizations`;
}
