import type { Transition } from '../../expectation/transition.ts';
import type { Tables } from '../../store/database.ts';
import type { Transaction } from '../../store/sql.ts';
import type { Mutes } from '../mutes.ts';
import { keepBack, listKeptBack } from './open-alerts.ts';

/** Maximum number of alerts that a tick tells late; the next one continues. */
const mostReleased = 1_000;

/** The time of a tick, in ms since the Unix epoch: the clock of Postgres, and the watermark. */
interface TickTimes {
  now: number;
  watermark: number;
}

/**
 * Decides what people are told while something is muted. A mute holds from the moment it is made
 * until the record is complete up to its end, so it covers what happened in it, however late that
 * is known.
 */
export class KeepBack {
  readonly #mutes: Mutes;
  readonly #times: TickTimes;

  constructor(mutes: Mutes, times: TickTimes) {
    this.#mutes = mutes;
    this.#times = times;
  }

  /**
   * Returns the transitions to tell, and keeps back the others. An alert that is over before its
   * mute is told to nobody.
   */
  async divide(trx: Transaction<Tables>, transitions: readonly Transition[]): Promise<readonly Transition[]> {
    const {
      told = [],
      opened = [],
      resolved = [],
      dropped = [],
    } = Object.groupBy(transitions, (one) => this.#fateOf(one));
    await keepBack(trx, opened.map(idOf), 'opened');
    await keepBack(trx, resolved.map(idOf), 'resolved');
    await keepBack(trx, dropped.map(idOf), null);
    return told;
  }

  /** The alerts whose mute is over, to be told now. */
  async released(trx: Transaction<Tables>): Promise<{ organization: string; id: string }[]> {
    const kept = await listKeptBack(trx);
    return kept.filter((alert) => !this.#isMuted(alert.organization, alert.automation_id)).slice(0, mostReleased);
  }

  #fateOf({ change, alert, isUntold }: Transition): 'told' | 'opened' | 'resolved' | 'dropped' {
    const { organization, automationId, openedAt, resolvedAt } = alert;
    if (isUntold) return 'dropped';
    const isOver = change === 'opened' && resolvedAt !== undefined;
    if (isOver && resolvedAt < (this.#mutes.until(alert, openedAt) ?? -Infinity)) return 'dropped';
    if (!this.#isMuted(organization, automationId)) return 'told';
    if (isOver) return 'dropped';
    return change;
  }

  #isMuted(organization: string, automationId: string): boolean {
    const { now, watermark } = this.#times;
    return [now, watermark].some((time) => this.#mutes.until({ organization, automationId }, time) !== undefined);
  }
}

function idOf({ alert }: Transition): string {
  return alert.id;
}
