import type { Writable } from 'node:stream';
import { UsageError } from '../../internal/config/arguments.ts';
import { exportDays, type DaysExported, type Progress } from '../../internal/archive/export-days.ts';
import { folderOfDay, type Manifest } from '../../internal/archive/manifest.ts';
import { openObjects } from '../../internal/archive/open-objects.ts';
import { readConfig, type Config } from '../../internal/config/read.ts';
import { createRecord } from '../../internal/record/record.ts';
import { dayOf, daysBefore, isoDay } from '../../internal/store/days.ts';
import { withExportLock } from '../../internal/store/with-export-lock.ts';
import { ProgressBar, type Terminal } from '../../internal/terminal/progress-bar.ts';
import { exportDatabaseSettings, openSources, type Source, type Sources } from './databases.ts';
import { noDestination, readOptions, usage, type Options } from './options.ts';
import { exportStream } from './stream.ts';

/** The settings of the command. */
export const exportSettings = [...exportDatabaseSettings, 'RETENTION_DAYS', 'ARCHIVE_URL'] as const;

/** The streams and the environment of the command: those of the process, or of a test. */
export interface Surroundings {
  readonly stdout: Writable;
  readonly stderr: Terminal;
  readonly env: NodeJS.ProcessEnv;
}

/** Resolves with the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: string[], { stdout, stderr, env }: Surroundings): Promise<number> {
  if (args.includes('--help') || args[0] === 'help') {
    stdout.write(usage);
    return 0;
  }
  try {
    const options = readOptions(args);
    const config = readConfig(exportSettings, env);
    await using sources = await openSources(config);
    const sentence = await exportTo(sources, options, config, { stdout, stderr });
    stderr.write(`${sentence}\n`);
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    stderr.write(`export: ${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}` : ''}`);
    return isUsage ? 2 : 1;
  }
}

async function exportTo(
  sources: Sources,
  options: Options,
  { ARCHIVE_URL, RETENTION_DAYS }: Pick<Config<(typeof exportSettings)[number]>, 'ARCHIVE_URL' | 'RETENTION_DAYS'>,
  { stdout, stderr }: Pick<Surroundings, 'stdout' | 'stderr'>,
): Promise<string> {
  const [organization] = options.organizations ?? [];
  const destination = options.destination ?? ARCHIVE_URL;
  if (destination === undefined) throw new UsageError(noDestination);
  if (destination === '-' && organization !== undefined) {
    const { db } = sources.sourceOf(organization);
    const { events, sha256 } = await exportStream(createRecord(db), organization, options, stdout);
    return `${events.toLocaleString('en')} events, SHA-256 ${sha256}`;
  }
  const objects = await openObjects(destination);
  const bar = new ProgressBar(stderr);
  const now = Date.now();
  const settled = dayOf(now - options.settleHours * 3_600_000);
  const run = {
    objects,
    format: options.format ?? ('parquet' as const),
    from: options.from?.getTime() ?? -Infinity,
    to: Math.min(settled, options.to?.getTime() ?? Infinity),
    recheckBefore: options.recheck ? Infinity : dueBefore(now, RETENTION_DAYS),
    onProgress: ({ organization, day, ...progress }: Progress) =>
      bar.show({ ...progress, part: `${organization} ${isoDay(day)}` }),
    onWritten: (manifest: Manifest) => {
      bar.clear();
      stdout.write(`${describe(manifest)}\n`);
    },
  };
  const exportFrom = ({ db, has }: Source): Promise<DaysExported> => {
    const record = createRecord(db);
    const checkpointOf = async (id: string) => (await record.getCheckpoint(id))?.note;
    const isWanted = (id: string) => has(id) && (options.organizations?.includes(id) ?? true);
    return withExportLock(db, objects.where, () => exportDays({ ...run, db, record, checkpointOf, isWanted }));
  };
  const results: PromiseSettledResult<DaysExported>[] = [];
  // One after the other: a database that is unavailable delays no other.
  for (const source of sources.all) results.push(...(await Promise.allSettled([exportFrom(source)])));
  bar.clear();
  objects.close();
  const total: DaysExported = { written: 0, kept: 0, events: 0 };
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
    total.written += result.value.written;
    total.kept += result.value.kept;
    total.events += result.value.events;
  }
  const { written, kept, events } = total;
  return `${objects.where}: wrote ${count(written)} with ${events.toLocaleString('en')} events; ${count(kept)} were there`;
}

/** Retention drops the days before it today or tomorrow: they are compared with Postgres. */
function dueBefore(now: number, retentionDays: number): number {
  return retentionDays === 0 ? -Infinity : daysBefore(dayOf(now), retentionDays - 1);
}

/** As `sha256sum` writes it, with the number of events. */
function describe({ organization, day, object, sha256, rows }: Manifest): string {
  return `${sha256}  ${folderOfDay({ organization, day: Date.parse(day) })}${object}  ${rows} events`;
}

function count(days: number): string {
  return `${days.toLocaleString('en')} ${days === 1 ? 'day' : 'days'} of organizations`;
}
