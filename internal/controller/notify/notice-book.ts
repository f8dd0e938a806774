import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import { knownAfter } from './alert-messages.ts';
import { keyOf } from './alertmanager-alert.ts';
import type { Labels, ToldAlert } from './told-alerts.ts';

/** What is recorded about an alert. */
interface Notice {
  alert: ToldAlert;
  knownAs: readonly Labels[];
  /** True if the receiver knows its current state. */
  told: boolean;
  problem: string | undefined;
}

/** The outcome of sending an alert: the problem, if it was not accepted. */
export interface Told {
  alert: ToldAlert;
  problem: string | undefined;
}

/** Records in the table `alert_notices` which receiver was sent which alert, and when. */
export class NoticeBook {
  readonly #db: Database;
  readonly #receiver: string;
  /** What this process has recorded: alert → state. Saves most statements. */
  #noted = new Map<string, string>();

  constructor(db: Database, receiver: string) {
    this.#db = db;
    this.#receiver = receiver;
  }

  /**
   * Records the labels of alerts before they are sent. If the process dies while sending, the next
   * one knows what may have to be resolved.
   */
  async begin(alerts: readonly ToldAlert[]): Promise<void> {
    const news = alerts.filter((alert) => mayKnow(alert).length > alert.knownAs.length);
    await this.#write(news.map((alert) => ({ alert, knownAs: mayKnow(alert), told: false, problem: undefined })));
  }

  /** Records what the receiver has got. */
  async end(all: readonly Told[]): Promise<void> {
    const now = new Map(all.map(({ alert, problem }) => [alert.id, problem ?? stateOf(alert)]));
    const news = all.filter(({ alert, problem }) => {
      const isAsBefore = this.#noted.get(alert.id) === now.get(alert.id);
      return !isAsBefore || (problem === undefined && textOf(alert.knownAs) !== textOf(knownAfter(alert)));
    });
    const notices = news.map(({ alert, problem }): Notice => {
      const told = problem === undefined;
      return { alert, knownAs: told ? knownAfter(alert) : mayKnow(alert), told, problem };
    });
    await this.#write(notices);
    this.#noted = now;
  }

  async #write(notices: readonly Notice[]): Promise<void> {
    if (notices.length === 0) return;
    await sql`
      insert into alert_notices as n (alert_id, receiver, organization, first_told_at, resolved_told_at, last_error, known_as)
      select id, ${this.#receiver}, organization, case when is_told then now() end,
        case when is_told and resolved then now() end, problem, known_as::jsonb
      from unnest(
        ${notices.map(({ alert }) => alert.id)}::uuid[], ${notices.map(({ alert }) => alert.organization)}::text[],
        ${notices.map(({ told }) => told)}::boolean[],
        ${notices.map(({ alert }) => alert.resolvedAt !== undefined)}::boolean[],
        ${notices.map(({ problem }) => problem ?? null)}::text[],
        ${notices.map(({ knownAs }) => JSON.stringify(knownAs))}::text[]
      ) as told (id, organization, is_told, resolved, problem, known_as)
      where exists (select from alerts where (alerts.organization, alerts.id) = (told.organization, told.id))
      order by id
      on conflict (organization, alert_id, receiver) do update set
        first_told_at = coalesce(n.first_told_at, excluded.first_told_at),
        resolved_told_at = coalesce(n.resolved_told_at, excluded.resolved_told_at),
        last_error = excluded.last_error, known_as = excluded.known_as
    `.execute(this.#db);
  }
}

function stateOf(alert: ToldAlert): string {
  return alert.resolvedAt === undefined ? 'open' : 'resolved';
}

/** The labels under which the receiver may have an alert once it may have been sent. */
function mayKnow(alert: ToldAlert): readonly Labels[] {
  const known = new Set(alert.knownAs.map(keyOf));
  return [...alert.knownAs, ...knownAfter(alert).filter((labels) => !known.has(keyOf(labels)))];
}

function textOf(all: readonly Labels[]): string {
  return all.map(keyOf).join('\n');
}
