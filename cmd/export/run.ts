import type { Writable } from 'node:stream';
import { UsageError } from '../../internal/config/arguments.ts';
import { readConfig } from '../../internal/config/read.ts';
import { macKeysOf } from '../../internal/ledger/mac.ts';
import type { Terminal } from '../../internal/kit/terminal/progress-bar.ts';
import { exportDatabaseSettings, openSources, type Sources } from './databases.ts';
import { messagesOf } from './messages.ts';
import { noDestination, readOptions, usage, type Options } from './options.ts';
import { exportToOutput } from './to-output.ts';
import { exportToPlace, type PlaceSurroundings } from './to-place.ts';

/** The settings of the command. */
export const exportSettings = [
  ...exportDatabaseSettings,
  'RETENTION_DAYS',
  'ARCHIVE_URL',
  'LEDGER_MAC_KEY',
  'LEDGER_KEY',
] as const;

/** The streams and the environment of the command: those of the process, or of a test. */
export interface Surroundings {
  readonly stdout: Writable;
  readonly stderr: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Ends the command: it aborts what it uploads. */
  readonly signal?: AbortSignal;
}

/** Resolves with the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: string[], { stdout, stderr, env, signal }: Surroundings): Promise<number> {
  if (args.includes('--help') || args[0] === 'help') {
    stdout.write(usage);
    return 0;
  }
  try {
    const options = readOptions(args);
    const config = readConfig(exportSettings, env);
    const place = options.destination ?? config.ARCHIVE_URL;
    if (place === undefined) throw new UsageError(noDestination);
    await using sources = await openSources(config);
    const sentence = await exportTo(place, sources, options, {
      retentionDays: config.RETENTION_DAYS,
      macKey: macKeysOf(config)[0],
      stdout,
      stderr,
      signal,
    });
    stderr.write(`${sentence}\n`);
    return 0;
  } catch (error) {
    for (const message of messagesOf(error)) stderr.write(`export: ${message}\n`);
    if (!(error instanceof UsageError)) return 1;
    stderr.write(`\n${usage}`);
    return 2;
  }
}

/** Resolves with a sentence about what it exported. */
function exportTo(place: string, sources: Sources, options: Options, surroundings: PlaceSurroundings): Promise<string> {
  const [organization] = options.organizations ?? [];
  if (options.destination === '-' && organization !== undefined) {
    return exportToOutput(sources.sourceOf(organization).db, organization, options, surroundings);
  }
  return exportToPlace(place, sources, options, surroundings);
}
