import { optionalFields } from '../../../internal/event/fields.ts';
import { containing } from '../../../internal/event/folded-text.ts';
import { coldDaysWith, thawDay } from '../../../internal/record/archive/thaw.ts';
import type { WantedEvents } from '../../../internal/store/tables/cold-days-table.ts';
import { ConfigError } from '../../../internal/config/read.ts';
import { writeErasure } from '../../../internal/ledger/erasure.ts';
import { macKeysOf } from '../../../internal/ledger/mac.ts';
import { readClock } from '../../../internal/store/clock.ts';
import type { Database } from '../../../internal/store/database.ts';
import { countErasable, eraseEvents, type Erasable } from '../../../internal/store/erase/erase.ts';
import { eraseTraces } from '../../../internal/store/erase/erase-traces.ts';
import type { ErasureRequest } from '../../../internal/store/erase/erasure-scope.ts';
import { organizationsWithLog } from '../../../internal/store/ledger/organizations-with-log.ts';
import { listErasures } from '../../../internal/store/erase/list-erasures.ts';
import { hasEvents } from '../../../internal/store/partitions/event-days.ts';
import { readMove } from '../../../internal/store/organizations/move/fence.ts';
import type { ContextOf, Run } from '../command.ts';
import { openDatabases } from '../databases.ts';
import { readErasure, type erase } from './options.ts';

/** Bytes of an id in the record of an erasure. */
const idBytes = 16;

type Context = ContextOf<typeof erase>;

export const run: Run<typeof erase> = async (args, context) => {
  const { organization, yes } = args;
  const erasure = readErasure(args);
  const config = context.settings();
  const [macKey] = macKeysOf(config);
  await using databases = openDatabases(config, { command: 'erase', most: 2, archive: config.ARCHIVE_URL });
  const db = await databases.databaseOf(organization);
  const isMoving = await requireOpen(db, organization);
  if (erasure === undefined) return await list(db, organization, context);
  if (yes && macKey === undefined) await requireNoLog(db, organization);
  const others = [...databases.all].filter(([, other]) => other !== db);
  // Postgres takes an erasure along in a move.
  if (!isMoving) for (const [name, other] of others) await requireClean(name, other, organization);
  const before = new Date((await readClock(db)).now);
  await eraseAll(db, { ...erasure, before, macKey }, yes, context);
};

/**
 * Resolves with true while the organization is being copied.
 * @throws if it is moving away or has moved: only rows left behind are here.
 */
async function requireOpen(db: Database, organization: string): Promise<boolean> {
  const move = await readMove(db, organization);
  if (move?.closed !== true) return move?.under_way === true;
  throw new Error(`${organization} moves to the database ${move.target}: wait for the end of the move`);
}

/**
 * @throws if a move has left events in another database, or may have: an erasure would leave them
 * there. A cancelled move is in no map, so each database must answer.
 */
async function requireClean(name: string, db: Database, organization: string): Promise<void> {
  const has = await hasEvents(db, organization).catch((cause: unknown) => {
    throw new Error(`the database ${name} does not say whether a move has left events of ${organization}`, { cause });
  });
  if (!has) return;
  const clean = `runledger-admin move --organization ${organization} --clean`;
  throw new Error(`the database ${name} has events of ${organization} from before a move: run \`${clean}\` first`);
}

/** @throws if the organization has a log: an erasure outside the log excuses nothing. */
async function requireNoLog(db: Database, organization: string): Promise<void> {
  if (!(await organizationsWithLog(db)).includes(organization)) return;
  throw new ConfigError(`${organization} has a log: set LEDGER_MAC_KEY, so that the log knows the erasure`);
}

async function list(db: Database, organization: string, { print, say }: Context): Promise<void> {
  let isEmpty = true;
  for await (const erasure of listErasures(db, organization)) {
    print(`${writeErasure(erasure)}\n`);
    isEmpty = false;
  }
  if (isEmpty) say(`No erasure of ${organization} is recorded.`);
}

async function eraseAll(db: Database, request: ErasureRequest, yes: boolean, context: Context): Promise<void> {
  const { settings, print, say, show } = context;
  const cold = await coldDaysWith(db, request.organization, wantedOf(request));
  if (cold.length > 0)
    say(`${count(cold.length, 'day')} of it ${yes ? 'comes' : 'would come'} back from the archive. ${again}`);
  if (yes) for (const day of cold) await thawDay(db, request.organization, day);
  const erasable = await countErasable(db, request);
  const isNone = erasable.events + erasable.executions + erasable.deadLetters === 0;
  const chosen = describe(erasable, request);
  if (isNone) say(describeNone(request));
  else say(yes ? `Erasing ${chosen}.` : `Would erase ${chosen}. Add --yes to erase them.`);
  if (erasable.byName > 0) {
    const stay = `${erasable.byName} executions or dead letters have the text in their ids, and stay`;
    say(`${stay}: use --execution.`);
  }
  if (!yes) return;
  let erased = 0;
  // Runs even without events: a failed erasure may have left alerts and deliveries.
  for await (const erasure of eraseEvents(db, request, settings().ERASE_BATCH_EVENTS)) {
    print(`${writeErasure(erasure)}\n`);
    erased += erasure.event_ids.length / idBytes;
    show({ done: erased, total: erasable.events, events: erased });
  }
  await eraseTraces(db, request);
  if (!isNone) say(`Erased. ${elsewhere}`);
  // Meanwhile a worker may have made a day cold once more, as it was.
  if ((await coldDaysWith(db, request.organization, wantedOf(request))).length === 0) return;
  await eraseAll(db, request, yes, context);
}

/** What makes an archive without the erased data. */
const again = 'Then export with --recheck, and delete the older objects of these days.';

/** The events of the archive that the request is about. */
function wantedOf({ automationId, executionId, text }: ErasureRequest): WantedEvents {
  const holds = text === undefined ? undefined : containing(text);
  return {
    ...(automationId !== undefined && { automationIds: [automationId] }),
    executionId,
    matches: holds && ((row) => optionalFields.some(({ column }) => holds(row[column]))),
  };
}

/** Where else the data may be, out of reach of this command. */
const elsewhere =
  'It may also be in the backups and the server log of Postgres, in the append-only file of Redis until its next ' +
  'rewrite, in the archive (export --recheck; objects under lock stay), and where channels sent it.';

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
