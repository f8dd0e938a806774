import { UsageError } from '../../internal/config/arguments.ts';
import { readConfig } from '../../internal/config/read.ts';
import { readMove } from '../../internal/store/organizations/move/fence.ts';
import { firstDatabase, readPlaces } from '../../internal/store/organizations/organization-map.ts';
import { writeErasure } from '../../internal/ledger/erasure.ts';
import { macKeysOf } from '../../internal/ledger/mac.ts';
import { readClock } from '../../internal/store/clock.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';
import { eraseTraces } from '../../internal/store/erase/erase-traces.ts';
import { countErasable, eraseEvents, type Erasable } from '../../internal/store/erase/erase.ts';
import type { ErasureRequest } from '../../internal/store/erase/erasure-scope.ts';
import { hasLedger } from '../../internal/store/ledger/has-ledger.ts';
import { listErasures } from '../../internal/store/erase/list-erasures.ts';
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

/** Resolves with the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr } = surroundings;
  if (args.includes('--help') || args[0] === 'help') {
    stdout.write(usage);
    return 0;
  }
  try {
    const { organization, erasure, yes } = readOptions(args);
    const { DATABASE_URL: url, ...keys } = readConfig(
      ['DATABASE_URL', 'LEDGER_MAC_KEY', 'LEDGER_KEY'],
      surroundings.database,
    );
    const [macKey] = macKeysOf(keys);
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
      await requireHere(db, organization);
      if (erasure === undefined) await list(db, organization, surroundings);
      else {
        if (yes && macKey === undefined) await requireNoLog(db, organization);
        const before = new Date((await readClock(db)).now);
        await erase(db, { ...erasure, before, macKey }, yes, surroundings);
      }
    } finally {
      await db.destroy();
    }
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    stderr.write(`erase: ${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}` : ''}`);
    return isUsage ? 2 : 1;
  }
}

/** @throws if the organization is in another database: here are rows that a move left behind. */
async function requireHere(db: Database, organization: string): Promise<void> {
  const place = (await readPlaces(db)).get(organization)?.database ?? firstDatabase;
  const move = await readMove(db, organization);
  const other = place === firstDatabase ? (move?.closed === true ? move.target : undefined) : place;
  if (other === undefined) return;
  throw new Error(`${organization} is in the database ${other}: set DATABASE_URL to that one`);
}

/** @throws if the organization has a log: an erasure that the log does not know excuses nothing. */
async function requireNoLog(db: Database, organization: string): Promise<void> {
  if (!(await hasLedger(db, organization))) return;
  throw new Error(`${organization} has a log: set LEDGER_MAC_KEY, so that the log knows the erasure`);
}

async function list(db: Database, organization: string, { stdout, stderr }: Surroundings): Promise<void> {
  let isEmpty = true;
  for await (const erasure of listErasures(db, organization)) {
    stdout.write(`${writeErasure(erasure)}\n`);
    isEmpty = false;
  }
  if (isEmpty) stderr.write(`No erasure of ${organization} is recorded.\n`);
}

async function erase(
  db: Database,
  request: ErasureRequest,
  yes: boolean,
  { stdout, stderr, most = 50_000 }: Surroundings,
): Promise<void> {
  const erasable = await countErasable(db, request);
  const isNone = erasable.events + erasable.executions + erasable.deadLetters === 0;
  const chosen = describe(erasable, request);
  if (isNone) stderr.write(`${describeNone(request)}\n`);
  else stderr.write(yes ? `Erasing ${chosen}.\n` : `Would erase ${chosen}. Add --yes to erase them.\n`);
  if (erasable.byName > 0) {
    const stay = `${erasable.byName} executions or dead letters have the text in their ids, and stay`;
    stderr.write(`${stay}: use --execution.\n`);
  }
  if (!yes) return;
  // Also if there is none: alerts and deliveries may be left of an erasure that failed.
  for await (const erasure of eraseEvents(db, request, most)) stdout.write(`${writeErasure(erasure)}\n`);
  await eraseTraces(db, request);
  if (!isNone) stderr.write(`Erased. ${elsewhere}\n`);
}

/** Where the data may be besides, which this command cannot reach. */
const elsewhere =
  'It may also be in the backups and the server log of Postgres, in the append-only file of Redis until its next ' +
  'rewrite, in the archive (export --recheck; objects under lock stay), and where webhooks sent it.';

function describe({ events, executions, deadLetters }: Erasable, { text }: ErasureRequest): string {
  const letters = count(deadLetters, 'dead letter');
  if (text !== undefined) return `the texts of ${count(events, 'event')}, and ${letters}`;
  return `${count(events, 'event')}, ${count(executions, 'execution')} and ${letters}`;
}

function describeNone({ organization, text }: ErasureRequest): string {
  if (text !== undefined) return `${organization} has no events or dead letters whose texts contain this text.`;
  return `${organization} has no such events, executions or dead letters.`;
}

function count(number: number, of: string): string {
  return `${number} ${of}${number === 1 ? '' : 's'}`;
}
