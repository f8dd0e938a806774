import { inTurns } from '../../kit/async/in-turns.ts';
import type { Schedules } from '../../expectation/schedules.ts';
import type { Blindness, Transition } from '../../expectation/transition.ts';
import type { MacKey } from '../../ledger/mac.ts';
import { together, type Turns } from '../../store/apart.ts';
import type { Database, Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import { lockState, saveState, type ControllerState } from './controller-state.ts';
import { listDue, makeDue, postpone, type AutomationKey } from './due-automations.ts';
import { evaluateDue } from './evaluate-due.ts';
import { Mutes } from '../mutes.ts';
import { KeepBack } from './keep-back.ts';
import { listUndeclared, release, resolveAlerts } from './open-alerts.ts';
import { keepGaps, TickGaps } from './record-gaps.ts';
import type { TickListener } from './tick-listener.ts';
import { followUndeclared } from './undeclared.ts';
import { heldOf, reasonOfLag, watermarkOf, type Clocks, type QueueReading, type Watermark } from './watermark.ts';

/** Number of automations evaluated at once, which bounds the memory of a tick. */
const chunkSize = 200;

/**
 * How long a tick may begin further turns, in ms. The first 200 due automations of each
 * organization are evaluated in any case; the next ticks evaluate the rest.
 */
const longestTurnsMs = 4_000;

/**
 * The parts of the usual statement timeout that the statements of a tick get, so that a slow
 * organization delays the others little: 10 s, and 2 s for the search for it, which runs into the
 * timeout again and again.
 */
const [partOfTick, partOfSearch] = [3, 15];

/** Maximum number of alerts of undeclared automations that a tick resolves per organization. */
const mostUndeclared = 500;

/** How far the watermark may be behind, in ms, before Runledger counts as blind. */
export const blindAfterMs = 300_000;

/** What a tick needs besides the database. */
export interface TickOptions {
  /** The queue, read before the tick begins; one sentence if Redis does not answer. */
  queue: QueueReading | { reason: string };
  /** Returns all clocks, given that of Postgres; in ms since the Unix epoch. */
  clocks: (postgres: number) => Clocks;
  schedules: Schedules;
  /** The keys with which consoles write mutes; none without a log. */
  actKeys?: readonly MacKey[] | undefined;
  /** Runs at the start of the transaction, once it holds the lock. */
  prepare?: ((trx: Transaction<Tables>) => Promise<void>) | undefined;
  listeners: readonly Pick<TickListener, 'recordTransitions' | 'recordTick'>[];
  /** How long it may begin further turns, in ms. */
  turnsMs?: number | undefined;
  /** How work for several organizations is divided; all at once unless set. */
  turns?: Turns | undefined;
}

/** The outcome of a tick; times in ms since the Unix epoch. */
export interface TickReport {
  /** Undefined before the first tick. */
  watermark: number | undefined;
  /** How far the watermark is behind the clock of Postgres, in ms. */
  lagMs: number;
  blindness: Blindness | undefined;
  evaluated: number;
  transitions: number;
}

/**
 * Moves the watermark and evaluates what may have changed, in one transaction. Resolves with
 * undefined if another controller holds the lock.
 */
export function tick(db: Database, options: TickOptions): Promise<TickReport | undefined> {
  return db.transaction().execute(async (trx) => {
    const state = await lockState(trx);
    if (state === undefined) return undefined;
    await options.prepare?.(trx);
    const timeout = (db.statementTimeout ?? 0) / (options.turns === undefined ? partOfTick : partOfSearch);
    // A plan made for a few rows does not suit thousands.
    await sql`
      select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
        set_config('statement_timeout', ${String(Math.ceil(timeout))}, true)
    `.execute(trx);
    const { queue, clocks } = options;
    const now = clocks(state.now);
    const known: Watermark = 'reason' in queue ? queue : watermarkOf(queue, now);
    const next = { ...state, now: now.postgres, watermarkAt: state.watermarkAt ?? now.postgres };
    let work = nothing;
    if (known.at !== undefined && !('reason' in queue) && known.at > (state.watermark ?? -Infinity)) {
      work = await evaluateUpTo(trx, next, known.at, queue, options);
      Object.assign(next, { watermark: known.at, watermarkAt: now.postgres });
    }
    const lagMs = now.postgres - (next.watermark ?? next.watermarkAt);
    const reason = known.reason ?? ('reason' in queue ? queue.reason : reasonOfLag(queue));
    const blindness = lagMs > blindAfterMs ? { since: next.watermarkAt, reason } : undefined;
    await saveState(trx, { ...next, blindness });
    return { watermark: next.watermark, lagMs, blindness, ...work };
  });
}

const nothing = { evaluated: 0, transitions: 0 };

async function evaluateUpTo(
  trx: Transaction<Tables>,
  before: ControllerState,
  watermark: number,
  queue: QueueReading,
  { schedules, actKeys = [], listeners, turns = together, turnsMs = longestTurnsMs }: TickOptions,
): Promise<Pick<TickReport, 'evaluated' | 'transitions'>> {
  const begun = performance.now();
  const from = before.watermark ?? watermark;
  await keepGaps(trx, queue.gaps, from);
  const held = heldOf(queue);
  const times = { from, watermark, held: held?.organizations ?? [] };
  await followUndeclared(trx, times);
  const due = await listDue(trx, times);
  await makeDue(trx, held?.organizations ?? []);
  // In parts, because 10,000 transitions would take 10 MB.
  const tell = async (part: readonly Transition[]): Promise<void> => {
    if (part.length > 0) for (const listener of listeners) await listener.recordTransitions(trx, part);
  };
  const keepBack = new KeepBack(await Mutes.read(trx, from, actKeys, schedules), { now: before.now, watermark });
  const record = async (part: readonly Transition[]): Promise<number> => {
    await tell(await keepBack.divide(trx, part));
    return part.length;
  };
  const at = watermark;
  const ends = (await listUndeclared(trx, mostUndeclared)).map((alert) => ({ ...alert, at, reason: undeclared }));
  const counts = await turns.run(trx, ends, async (part) => record(await resolveAlerts(trx, part)));
  const context = { now: before.now, watermark, gaps: new TickGaps(trx), schedules };
  let evaluated = 0;
  const late: AutomationKey[] = [];
  for (const { items: keys, isFirst } of inTurns(due, chunkSize)) {
    if (!isFirst && performance.now() - begun >= turnsMs) late.push(...keys);
    else {
      counts.push(...(await turns.run(trx, keys, async (part) => record(await evaluateDue(trx, part, context)))));
      evaluated += keys.length;
    }
  }
  const released = await keepBack.released(trx);
  await turns.run(trx, released, async (part) =>
    tell(
      await release(
        trx,
        part.map(({ id }) => id),
      ),
    ),
  );
  for (const listener of listeners) await listener.recordTick(trx, watermark, held, turns);
  await postpone(trx, late);
  await makeDue(trx, [...turns.setAside.keys()]);
  return { evaluated, transitions: counts.reduce((sum, count) => sum + count, 0) };
}

const undeclared = 'The automation is no longer declared.';
