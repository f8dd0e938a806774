import { mutedUntil, type Mute } from '../expectation/mute.ts';
import { Schedules } from '../expectation/schedules.ts';
import type { MacKey } from '../ledger/mac.ts';
import { readMutes } from '../store/acts/read-mutes.ts';
import type { Tables } from '../store/database.ts';
import { sql, type Selectable, type Transaction } from '../store/sql.ts';
import type { ActsTable } from '../store/tables/acts-table.ts';

type Row = Pick<Selectable<ActsTable>, 'organization' | 'id' | 'automation_id' | 'until_at' | 'made_at' | 'details'>;

/** What a mute may be about. */
interface Subject {
  organization: string;
  automationId: string;
}

/** The mutes of all organizations that nobody has ended. */
export class Mutes {
  readonly #mutes: ReadonlyMap<string, readonly Mute[]>;
  readonly #schedules: Schedules;

  private constructor(mutes: ReadonlyMap<string, readonly Mute[]>, schedules: Schedules) {
    this.#mutes = mutes;
    this.#schedules = schedules;
  }

  /** Reads those that may hold at a time or later, in ms. */
  static async read(
    trx: Transaction<Tables>,
    from: number,
    actKeys: readonly MacKey[],
    schedules = new Schedules(),
  ): Promise<Mutes> {
    const rows = await readMutes(trx, sql`${new Date(from)}::timestamptz`, actKeys);
    const all = rows.map((row) => [row.organization, muteOf(row)] as const);
    const mutes = all.filter(([, mute]) => isReadable(mute, schedules));
    const byOrganization = Map.groupBy(mutes, ([organization]) => organization);
    return new Mutes(
      new Map(Array.from(byOrganization, ([organization, own]) => [organization, own.map(([, mute]) => mute)])),
      schedules,
    );
  }

  /** When the last mute that holds at a time ends; undefined if none holds. Times are in ms. */
  until(subject: Subject, time: number): number | undefined {
    const ends = this.#holding(subject, time).map(({ end }) => end);
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  /** What is muted at a time, in ms: all of the organization, the automation, or neither. */
  scope(subject: Subject, time: number): 'organization' | 'automation' | undefined {
    const holding = this.#holding(subject, time);
    if (holding.some(({ mute }) => mute.automationId === undefined)) return 'organization';
    return holding.length === 0 ? undefined : 'automation';
  }

  #holding({ organization, automationId }: Subject, time: number): { mute: Mute; end: number }[] {
    const own = this.#mutes.get(organization) ?? [];
    return own.flatMap((mute) => {
      const isAbout = mute.automationId === undefined || mute.automationId === automationId;
      const end = isAbout ? mutedUntil(mute, time, this.#schedules) : undefined;
      return end === undefined ? [] : [{ mute, end }];
    });
  }
}

/** A schedule that cannot be read mutes nothing, and stops no tick. */
function isReadable({ window }: Mute, schedules: Schedules): boolean {
  try {
    if (window !== undefined) schedules.get(window.schedule, window.timeZone);
    return true;
  } catch {
    return false;
  }
}

function muteOf({ id, automation_id, until_at, made_at, details }: Row): Mute {
  return {
    id,
    automationId: automation_id ?? undefined,
    madeAt: made_at.getTime(),
    untilAt: until_at?.getTime(),
    window: details.window,
  };
}
