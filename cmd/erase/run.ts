import { UsageError } from '../../internal/config/arguments.ts';
import { readConfig } from '../../internal/config/read.ts';
import { writeErasure } from '../../internal/log/erasure-text.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';
import { eraseTraces } from '../../internal/store/erase-traces.ts';
import { countErasable, eraseEvents } from '../../internal/store/erase.ts';
import { readOptions, usage } from './options.ts';

/** The streams of the command: those of the process, or of a test. */
export interface Surroundings {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Where DATABASE_URL is; the environment of the process unless given. */
  readonly database?: NodeJS.ProcessEnv | undefined;
  /** Most events of one transaction and record. */
  readonly most?: number;
}

/** Resolves with the exit code: 0 erased or counted, 2 could not. */
export async function run(args: string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr } = surroundings;
  if (args.includes('--help') || args[0] === 'help') {
    stdout.write(usage);
    return 0;
  }
  try {
    const options = readOptions(args);
    const { DATABASE_URL: url } = readConfig(['DATABASE_URL'], surroundings.database);
    const ignore = (): void => undefined;
    const db = openPostgres({
      url,
      maxConnections: 1,
      statementTimeout: 0,
      preparesStatements: false,
      applicationName: 'runledger-erase',
      onIdleError: ignore,
      onNotDurable: ignore,
    });
    try {
      await erase(db, options, surroundings);
    } finally {
      await db.destroy();
    }
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    stderr.write(`erase: ${message}\n${error instanceof UsageError ? `\n${usage}` : ''}`);
    return 2;
  }
}

async function erase(
  db: Database,
  { yes, ...options }: ReturnType<typeof readOptions>,
  { stdout, stderr, most = 50_000 }: Surroundings,
): Promise<void> {
  const request = { ...options, before: new Date() };
  const { events, deadLetters, byName } = await countErasable(db, request);
  const lose = request.text === undefined ? 'are erased' : 'lose their texts';
  const verb = yes ? '' : 'Without --yes nothing is erased. With it ';
  stderr.write(`${verb}${events} events ${lose}, and ${deadLetters} dead letters are erased.\n`);
  if (byName > 0) {
    stderr.write(`${byName} executions or dead letters have the text in their ids, and stay: use --execution.\n`);
  }
  if (!yes) return;
  for (;;) {
    const erasure = await eraseEvents(db, request, most);
    if (erasure === undefined) break;
    stdout.write(`${writeErasure(erasure)}\n`);
  }
  await eraseTraces(db, request);
}
