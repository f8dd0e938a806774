import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tables } from '../../database.ts';
import { createPartition, listPartitions, lockEvents, partitionOf } from '../../partitions/partitions.ts';
import { withMaintenanceLock } from '../../partitions/with-maintenance-lock.ts';
import { dayAfter } from '../../partitions/days.ts';
import { untilUnlocked } from '../../until-unlocked.ts';
import type { Transaction } from '../../sql.ts';
import { within } from '../../../kit/async/within.ts';
import type { Logger } from '../../../kit/telemetry/logger.ts';
import { deleteState } from '../residents.ts';
import { deleteDeclared, deleteRecord } from './clean.ts';
import { beginMove, closeDatabase, endMove, noteCopied, openDatabaseFor, readMove } from './fence.ts';
import type { Move, NamedDatabase } from './moved-tables.ts';
import { databaseOf, placeOf, withMoveLock, type MoveOptions } from './options.ts';
import { MoveError, Replication, type Waiting } from './replication.ts';
import { isBehind, switchDatabase, withTicksHeld } from './switch.ts';

/** Pause before what a database must do first is tried again, in ms. */
const pauseMs = 1_000;

/** Longest work in a target that may be away, in ms. */
const longestMs = 20_000;

/**
 * Moves an organization to another database while it sends events. Postgres copies the record by
 * logical replication. Each step is repeatable, so the same call resumes a move that was killed at
 * any point.
 * @throws {MoveError} when it cannot be made.
 */
export function moveOrganization(options: MoveOptions, name: string): Promise<void> {
  return withMoveLock(options, async (first, confirm) => {
    const { databases, organization, logger } = options;
    const target = databaseOf(options, name);
    const source = await placeOf(options, first);
    if (source === target) await requireArrived(options, target);
    else {
      const move = { source, target, organization };
      await copyRecord(move, options);
      await withTicksHeld(source.db, async (here) => {
        await untilAhead(here, move, logger);
        await closeSource(move, options);
        await switchDatabase(here, first.db, move, confirm);
      });
    }
    // The move closed it while the organization was on its way here.
    await openDatabaseFor(target.db, organization);
    for (const other of databases.values()) if (other !== target) await endMove(other.db, organization);
    logger.info({ organization, database: name, others: databases.size - 1 }, 'the organization is in its database');
  });
}

/**
 * A move to this database may have died after it changed the map. One that leaves it must not be
 * taken for that. @throws {MoveError}
 */
async function requireArrived(options: MoveOptions, here: NamedDatabase): Promise<void> {
  const state = await readMove(here.db, options.organization);
  if (state === undefined) return;
  const other = await readMove(databaseOf(options, state.target).db, options.organization);
  if (other?.under_way !== true || !other.copied) throw underWayTo(state.target);
}

function underWayTo(target: string): MoveError {
  return new MoveError(`a move to ${target} is under way: end or cancel it first`);
}

/** Lets Postgres copy the record until little is left, unless the target has it all. */
async function copyRecord(move: Move, waiting: Waiting): Promise<void> {
  const { logger } = waiting;
  const { source, target, organization } = move;
  const beginWhenReady = async ({ name, db }: NamedDatabase, other: string): Promise<void> => {
    while (!(await beginMove(db, organization, other))) {
      logger.warn({ database: name }, 'waiting for a worker to end the work of retention');
      await sleep(pauseMs);
    }
  };
  const replication = await Replication.of(move, waiting);
  const state = await readMove(source.db, organization);
  if (state !== undefined && state.target !== target.name) throw underWayTo(state.target);
  if (state?.copied === true) return;
  const begin = async (): Promise<void> => {
    await replication.requireAllowed();
    await createPartitionsOf(source.db, target.db);
    if (state === undefined) await beginWhenReady(source, target.name);
    await beginWhenReady(target, source.name);
    // Also removes what an interrupted `begin` left, or a cancel without its target.
    await replication.end();
    await closeDatabase(target.db, organization, source.name);
    await deleteRecord(target, organization, logger);
    await replication.begin();
  };
  if (state !== undefined && (await replication.isUnderWay())) await replication.resume();
  else await begin();
  while (!(await replication.untilCopied(progressOf(organization, logger)))) {
    logger.warn({ organization }, 'Postgres has lost its place in a table, and copies all of them again');
    await begin();
  }
}

/**
 * Resolves once the target's watermark is at that of the source, which does not tick meanwhile. It
 * must be there before the source closes: from then on events of the organization wait in Redis,
 * and no watermark passes events that wait.
 */
async function untilAhead(here: Transaction<Tables>, { target }: Move, logger: Logger): Promise<void> {
  while (await isBehind(here, target.db)) {
    logger.warn({ database: target.name }, 'waiting for the controller to tick in the target');
    await sleep(pauseMs);
  }
}

/** Closes the source, and resolves once the target has the whole record. */
async function closeSource(move: Move, waiting: Waiting): Promise<void> {
  const { source, target, organization } = move;
  const replication = await Replication.of(move, waiting);
  if ((await readMove(source.db, organization))?.copied !== true) {
    await closeDatabase(source.db, organization, target.name);
    waiting.logger.info({ organization }, 'the source takes no more events of the organization');
    await replication.untilCaughtUp();
    await noteCopied(source.db, organization);
  }
  await replication.end();
}

/** Replication does not create partitions: without them, every event would go to DEFAULT. */
async function createPartitionsOf(source: Database, target: Database): Promise<void> {
  const known = await listPartitions(target);
  for (const { from, to } of await listPartitions(source)) {
    for (let day = from; day < to; day = dayAfter(day)) {
      if (partitionOf(day, known) !== undefined) continue;
      await untilUnlocked(() =>
        withMaintenanceLock(target, async (trx, present) => {
          if (partitionOf(day, present) !== undefined) return;
          await lockEvents(trx);
          await createPartition(trx, day);
        }),
      );
    }
  }
}

/**
 * Gives up a move whose map has not changed: the source takes events again, also while the target
 * is away. What stays in such a target, a later call removes.
 * @throws {MoveError} when there is none, or when the organization has arrived.
 */
export function cancelMove(options: MoveOptions): Promise<void> {
  return withMoveLock(options, async (first) => {
    const { organization, logger } = options;
    const source = await placeOf(options, first);
    const state = await readMove(source.db, organization);
    const targets = state === undefined ? await targetsLeft(options, source) : [databaseOf(options, state.target)];
    if (targets.length === 0) throw new MoveError('no move is under way');
    for (const target of targets) await giveUp({ source, target, organization }, options);
    logger.info({ organization, database: source.name }, 'the move is cancelled');
  });
}

/** The databases that were away when a move to them was cancelled. */
async function targetsLeft({ databases, organization }: MoveOptions, source: NamedDatabase): Promise<NamedDatabase[]> {
  const left: NamedDatabase[] = [];
  for (const database of databases.values()) {
    const state = database === source ? undefined : await readMove(database.db, organization);
    if (state?.under_way === true && state.target === source.name) left.push(database);
  }
  return left;
}

async function giveUp(move: Move, waiting: Waiting): Promise<void> {
  const { source, target, organization } = move;
  const replication = await Replication.of(move, waiting);
  const isThere = await triesInTarget(move, waiting, async () => {
    const state = await readMove(target.db, organization);
    if (state?.under_way === true && state.copied) {
      throw new MoveError(`${organization} is in ${source.name} already: the same move, run again, ends it`);
    }
    await replication.endInTarget();
  });
  await replication.endAtSource();
  await openDatabaseFor(source.db, organization);
  if (!isThere) return;
  await triesInTarget(move, waiting, async () => {
    await withTicksHeld(target.db, async (trx) => {
      await deleteState(trx, [organization]);
      await deleteDeclared(trx, organization);
    });
    await endMove(target.db, organization);
  });
}

/** Works in a target that may be away. Resolves with false, after a warning, if it is. */
async function triesInTarget(
  { target, organization }: Move,
  { logger }: Waiting,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await within(longestMs, work());
    return true;
  } catch (error) {
    if (error instanceof MoveError) throw error;
    logger.warn(
      { error, organization, database: target.name },
      'the subscription and what it copied stay in the target: cancel again once it is back',
    );
    return false;
  }
}

/** Logs how far the copy is, once in ten seconds. */
function progressOf(organization: string, logger: Logger): (behind: string) => void {
  let toldAt = performance.now();
  return (behind) => {
    if (performance.now() - toldAt < 10_000) return;
    toldAt = performance.now();
    logger.info({ organization, behind }, 'Postgres copies the organization');
  };
}
