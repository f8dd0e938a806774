import { slices } from '../store/slices.ts';
import type { Schedules } from '../expectation/schedules.ts';
import type { Blindness, Transition } from '../expectation/transition.ts';
import type { Database, Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';
import { keepGaps, lockState, readGaps, saveState, type ControllerState } from './controller-state.ts';
import { listDue, makeDue } from './due-automations.ts';
import { evaluateDue } from './evaluate-due.ts';
import { resolveUndeclared } from './open-alerts.ts';
import type { TickListener } from './tick-listener.ts';
import { followUndeclared } from './undeclared.ts';
import { heldOf, reasonOfLag, watermarkOf, type Clocks, type QueueReading, type Watermark } from './watermark.ts';

/** Automations that are evaluated at once: bounds the memory of a tick. */
const chunkSize = 200;

/** A watermark that is so far behind, in ms, makes Runledger blind. */
export const blindAfterMs = 300_000;

/** What a tick needs beside the database. */
export interface TickOptions {
  /** Read before the tick begins; one sentence if Redis does not answer. */
  queue: QueueReading | { reason: string };
  /** The clocks, given the one of Postgres; in ms since the Unix epoch. */
  clocks: (postgres: number) => Clocks;
  schedules: Schedules;
  /** Runs at the begin of the transaction, once it has the lock. */
  prepare?: ((trx: Transaction<Tables>) => Promise<void>) | undefined;
  listeners: readonly Pick<TickListener, 'recordTransitions' | 'recordTick'>[];
}

/** The outcome of a tick; times in ms since the Unix epoch. */
export interface TickReport {
  /** Undefined before the first one. */
  watermark: number | undefined;
  /** How far the watermark is behind the clock of Postgres, in ms. */
  lagMs: number;
  blindness: Blindness | undefined;
  evaluated: number;
  transitions: number;
}

/**
 * Moves the watermark and evaluates what may have changed, in one transaction. Resolves with
 * undefined if another controller is at it.
 */
export function tick(db: Database, options: TickOptions): Promise<TickReport | undefined> {
  return db.transaction().execute(async (trx) => {
    const state = await lockState(trx);
    if (state === undefined) return undefined;
    await options.prepare?.(trx);
    // Plans that were made for a few rows do not suit thousands.
    await sql`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true)`.execute(
      trx,
    );
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
  { schedules, listeners }: TickOptions,
): Promise<Pick<TickReport, 'evaluated' | 'transitions'>> {
  const from = before.watermark ?? watermark;
  await keepGaps(trx, queue.gaps, from);
  const gaps = await readGaps(trx);
  const held = heldOf(queue);
  const times = { from, watermark, held: held?.organizations ?? [] };
  await followUndeclared(trx, times);
  const due = await listDue(trx, times);
  await makeDue(trx, held?.organizations ?? []);
  let transitions = 0;
  // Each part at once: 10,000 transitions would take 10 MB.
  const record = async (part: readonly Transition[]): Promise<void> => {
    transitions += part.length;
    if (part.length > 0) for (const listener of listeners) await listener.recordTransitions(trx, part);
  };
  const undeclared = await resolveUndeclared(trx, watermark);
  await record(undeclared.map((alert) => ({ change: 'resolved', alert, automation: undefined })));
  for (const chunk of slices(due, chunkSize)) {
    await record(await evaluateDue(trx, chunk, { now: before.now, watermark, gaps, schedules }));
  }
  for (const listener of listeners) await listener.recordTick(trx, watermark, held);
  return { evaluated: due.length, transitions };
}
