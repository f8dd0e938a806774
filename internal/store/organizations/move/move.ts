import { setTimeout as sleep } from 'node:timers/promises';
import { advisoryLocks } from '../../advisory-locks.ts';
import type { Database, Tables } from '../../database.ts';
import { sql, type Transaction } from '../../sql.ts';
import type { Logger } from '../../../kit/telemetry/logger.ts';
import { firstDatabase, readPlaces } from '../organization-map.ts';
import { compareRecord } from './compare.ts';
import { catchUp, copyTable, recordTables, type Copying } from './copy-record.ts';
import { beginMove, closeMove, openFence, readMove } from './fence.ts';
import { switchDatabase, TargetBehind } from './switch.ts';

/** The move cannot be made. The message is a sentence for people. */
export class MoveError extends Error {
  override readonly name = 'MoveError';
}

export interface MoveOptions {
  /** By name, the first one too. */
  databases: ReadonlyMap<string, Database>;
  organization: string;
  logger: Logger;
}

/** Keys that are left when the source closes: a moment of work. */
const fewLeft = 500;

/** Pause until a target that is behind is tried again, in ms. */
const behindMs = 1_000;

/**
 * Moves an organization to another database while it sends events. Each step may be repeated, so a
 * move that was killed anywhere is continued by the same call.
 * @throws {MoveError} when it cannot be made.
 */
export function moveOrganization(options: MoveOptions, name: string): Promise<void> {
  return withMoveLock(options, async (first, confirm) => {
    const { databases, organization, logger } = options;
    const target = databaseOf(options, name);
    const from = (await readPlaces(first)).get(organization)?.database ?? firstDatabase;
    if (from !== name) {
      const source = databaseOf(options, from);
      await moveRecord({ source, target, organization, onProgress: progressOf(logger) }, name, logger);
      await switchWhenReady(
        first,
        { source, target, organization, onProgress: () => undefined },
        name,
        confirm,
        logger,
      );
    }
    // Of an earlier stay: until now, only the move could write there.
    await openFence(target, organization);
    logger.info({ organization, database: name, others: databases.size - 1 }, 'the organization is in its database');
  });
}

/** Copies the record and closes the source. */
async function moveRecord(copying: Copying, name: string, logger: Logger): Promise<void> {
  const { source, organization } = copying;
  const tables = await recordTables(copying);
  await requireNoLog(source, organization);
  let state = await readMove(source, organization);
  if (state !== undefined && state.target !== name && state.closed) {
    throw new MoveError(`a move to ${state.target} is under way: end or cancel it first`);
  }
  if (state?.target !== name) {
    await beginMove(source, organization, name);
    state = undefined;
  }
  if (state?.closed !== true) {
    await copyTable(copying, tables.events, state?.progress['events']);
    await copyTable(copying, tables.executions, state?.progress['executions']);
    await catchUp(copying, tables, fewLeft);
    await closeMove(source, organization);
    logger.info({ organization }, 'the source takes no more events of the organization');
  }
  await catchUp(copying, tables, 1);
  await copyTable(copying, tables.deadLetters);
  await compareRecord(copying, tables);
  // Again: an erasure since the copy would be missing in the target.
  await requireNoLog(source, organization);
}

/** @throws {MoveError} for what a move does not copy: a log, and what was erased. */
async function requireNoLog(source: Database, organization: string): Promise<void> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from log_trees where organization = ${organization})
      or exists (select from log_segments where organization = ${organization})
      or exists (select from erasures where organization = ${organization}) as found
  `.execute(source);
  if (rows[0]?.found === true) throw new MoveError('an organization with a log or with erased events cannot move');
}

async function switchWhenReady(
  first: Database,
  copying: Copying,
  name: string,
  confirm: () => Promise<void>,
  logger: Logger,
): Promise<void> {
  for (;;) {
    try {
      return await switchDatabase(first, copying, name, confirm);
    } catch (error) {
      if (!(error instanceof TargetBehind)) throw error;
      logger.warn({ database: name }, 'waiting for the controller to tick in the target');
      await sleep(behindMs);
    }
  }
}

/**
 * Gives up a move whose map has not changed: the source takes events again.
 * @throws {MoveError} when there is none.
 */
export function cancelMove(options: MoveOptions): Promise<void> {
  return withMoveLock(options, async (first) => {
    const { organization, logger } = options;
    const name = (await readPlaces(first)).get(organization)?.database ?? firstDatabase;
    const source = databaseOf(options, name);
    if ((await readMove(source, organization)) === undefined) throw new MoveError('no move is under way');
    await openFence(source, organization);
    logger.info({ organization, database: name }, 'the move is cancelled');
  });
}

/** @throws {MoveError} for a name that no setting has. */
export function databaseOf({ databases }: MoveOptions, name: string): Database {
  const database = databases.get(name);
  if (database !== undefined) return database;
  throw new MoveError(`there is no database ${name}, only ${[...databases.keys()].join(', ')}`);
}

/** Lets one process work at a time. `confirm` rejects when its lock is lost. */
export async function withMoveLock(
  { databases }: MoveOptions,
  work: (first: Database, confirm: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const first = databases.get(firstDatabase);
  if (first === undefined) throw new MoveError('there is no first database');
  await first.transaction().execute(async (trx) => {
    if (!(await takeLock(trx))) throw new MoveError('another move is under way');
    await work(first, async () => void (await sql`select 1`.execute(trx)));
  });
}

async function takeLock(trx: Transaction<Tables>): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.move)}) as locked
  `.execute(trx);
  return rows[0]?.locked === true;
}

/** Logs the rows of each table once in ten seconds. */
function progressOf(logger: Logger): Copying['onProgress'] {
  const rows = new Map<string, number>();
  let toldAt = performance.now();
  return (table, count) => {
    rows.set(table, (rows.get(table) ?? 0) + count);
    if (performance.now() - toldAt < 10_000) return;
    toldAt = performance.now();
    logger.info({ rows: Object.fromEntries(rows) }, 'rows are copied');
  };
}
