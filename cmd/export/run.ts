import type { Writable } from 'node:stream';
import { UsageError } from '../../internal/config/arguments.ts';
import { exportDays } from '../../internal/archive/export-days.ts';
import { folderOfDay, type Manifest } from '../../internal/archive/manifest.ts';
import { openObjects } from '../../internal/archive/open-objects.ts';
import { readConfig, type Config } from '../../internal/config/read.ts';
import { createRecord } from '../../internal/record/record.ts';
import type { Database } from '../../internal/store/database.ts';
import { dayOf, daysBefore } from '../../internal/store/days.ts';
import { withExportLock } from '../../internal/store/with-export-lock.ts';
import { openDatabase } from './database.ts';
import { noDestination, readOptions, usage, type Options } from './options.ts';
import { ProgressBar, type Terminal } from './progress.ts';
import { exportStream } from './stream.ts';

/** The settings of the command. */
export const exportSettings = ['DATABASE_URL', 'RETENTION_DAYS', 'ARCHIVE_URL'] as const;

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
    await using db = openDatabase(config.DATABASE_URL);
    const sentence = await exportTo(db, options, config, { stdout, stderr });
    stderr.write(`${sentence}\n`);
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    stderr.write(`export: ${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}` : ''}`);
    return isUsage ? 2 : 1;
  }
}

async function exportTo(
  db: Database,
  options: Options,
  { ARCHIVE_URL, RETENTION_DAYS }: Pick<Config<(typeof exportSettings)[number]>, 'ARCHIVE_URL' | 'RETENTION_DAYS'>,
  { stdout, stderr }: Pick<Surroundings, 'stdout' | 'stderr'>,
): Promise<string> {
  const record = createRecord(db);
  const [organization] = options.organizations ?? [];
  const destination = options.destination ?? ARCHIVE_URL;
  if (destination === undefined) throw new UsageError(noDestination);
  if (destination === '-' && organization !== undefined) {
    const { events, sha256 } = await exportStream(record, organization, options, stdout);
    return `${events.toLocaleString('en')} events, SHA-256 ${sha256}`;
  }
  const objects = await openObjects(destination);
  const bar = new ProgressBar(stderr);
  const now = Date.now();
  const settled = dayOf(now - options.settleHours * 3_600_000);
  const run = {
    db,
    record,
    objects,
    format: options.format ?? ('parquet' as const),
    checkpointOf: async (organization: string) => (await record.getCheckpoint(organization))?.note,
    organizations: options.organizations,
    from: options.from?.getTime() ?? -Infinity,
    to: Math.min(settled, options.to?.getTime() ?? Infinity),
    recheckBefore: options.recheck ? Infinity : dueBefore(now, RETENTION_DAYS),
    onProgress: bar.show.bind(bar),
    onWritten: (manifest: Manifest) => {
      bar.clear();
      stdout.write(`${describe(manifest)}\n`);
    },
  };
  const { written, kept, events } = await withExportLock(db, objects.where, () => exportDays(run)).finally(() => {
    bar.clear();
    objects.close();
  });
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
