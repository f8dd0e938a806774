import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { ToldAlert } from './told-alerts.ts';

/** Notes in the table `alert_notices` which receiver was told about which alert, and when. */
export class NoticeBook {
  readonly #db: Database;
  /** What this process has noted of each receiver: alert → news. It saves most statements. */
  readonly #noted = new Map<string, Map<string, string>>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** @param problem why the receiver could not be told; undefined when it was. */
  async note(receiver: string, alerts: readonly ToldAlert[], problem: string | undefined): Promise<void> {
    const before = this.#noted.get(receiver);
    const now = new Map(alerts.map((alert) => [alert.id, problem ?? stateOf(alert)]));
    const news = alerts.filter(({ id }) => before?.get(id) !== now.get(id));
    if (news.length > 0) await this.#write(receiver, news, problem);
    this.#noted.set(receiver, now);
  }

  async #write(receiver: string, alerts: readonly ToldAlert[], problem: string | undefined): Promise<void> {
    const ids = alerts.map(({ id }) => id);
    const organizations = alerts.map(({ organization }) => organization);
    const resolved = alerts.map(({ resolvedAt }) => resolvedAt !== undefined);
    const isTold = problem === undefined;
    await sql`
      insert into alert_notices as n (alert_id, receiver, organization, first_told_at, resolved_told_at, last_error)
      select id, ${receiver}, organization, case when ${isTold} then now() end,
        case when ${isTold} and resolved then now() end, ${problem ?? null}::text
      from unnest(${ids}::uuid[], ${organizations}::text[], ${resolved}::boolean[]) as told (id, organization, resolved)
      where exists (select from alerts where alerts.id = told.id)
      order by id
      on conflict (alert_id, receiver) do update set
        first_told_at = coalesce(n.first_told_at, excluded.first_told_at),
        resolved_told_at = coalesce(n.resolved_told_at, excluded.resolved_told_at),
        last_error = excluded.last_error
    `.execute(this.#db);
  }
}

function stateOf({ resolvedAt }: ToldAlert): string {
  return resolvedAt === undefined ? 'open' : 'resolved';
}
