import { storable } from '../../event/stored-text.ts';
import type { Ending } from '../../event/closing.ts';
import { unavailable } from '../../kit/errors/request-error.ts';
import type { Database } from '../database.ts';
import { isForbidden, isTimeout, isUnavailable, movedOrganizations } from '../errors.ts';
import { sql, type RawBuilder } from '../sql.ts';
import type { MuteWindow } from '../tables/acts-table.ts';

/** What every act has. */
interface Signed {
  organization: string;
  /** Of the form or the request: the same act twice takes effect once. */
  id: string;
  /** Who does it. */
  by: string;
  /** Why, in that person's words. */
  note: string;
}

/** The key of an execution. */
interface Run {
  automationId: string;
  executionId: string;
}

/** An act of an owner. */
export type NewAct = Signed &
  (
    | {
        kind: 'mute';
        /** Absent for the whole organization. */
        automationId: string | undefined;
        until: Date | undefined;
        window: MuteWindow | undefined;
      }
    | { kind: 'unmute'; mute: string }
    | { kind: 'acknowledge'; alert: string }
    | ({ kind: 'close'; as: Ending } & Run)
    | ({ kind: 'note' } & Run)
  );

/** Most mutes of an organization in force or to come, which each tick of the controller reads. */
const mostMutes = 500;

/** Maximum length of a name, in characters. */
const longestName = 200;

/** Writes what owners do about alerts and executions. */
export class Acts {
  readonly #databaseOf: (organization: string) => Database;

  constructor(databaseOf: (organization: string) => Database) {
    this.#databaseOf = databaseOf;
  }

  /**
   * Writes an act, which workers and controllers then follow. Resolves with false if there is
   * nothing that it could be about: the alert is over, the run has ended, the mute too, or there
   * are too many mutes.
   * @throws {RequestError} when Postgres cannot write it now.
   */
  async add(act: NewAct): Promise<boolean> {
    try {
      return await this.#databaseOf(act.organization)
        .transaction()
        .execute(async (trx) => {
          // A user in runledger_reader sees and writes rows of this organization only.
          await sql`select set_config('runledger.organization', ${act.organization}, true)`.execute(trx);
          const { numAffectedRows = 0n } = await insertOf(act).execute(trx);
          if (numAffectedRows > 0n) return true;
          const own = trx.selectFrom('acts').select('id').where('organization', '=', act.organization);
          return (await own.where('id', '=', act.id).executeTakeFirst()) !== undefined;
        });
    } catch (error) {
      if (movedOrganizations(error)) throw unavailable('The organization moves to another database: try again.', error);
      if (!isForbidden(error) && !isTimeout(error) && !isUnavailable(error)) throw error;
      throw unavailable('This cannot be written now.', error);
    }
  }
}

function insertOf(act: NewAct): RawBuilder<unknown> {
  const { organization, id, kind, note, by } = act;
  const until = kind === 'mute' ? act.until : undefined;
  const details = kind === 'mute' ? { window: act.window } : kind === 'close' ? { as: act.as } : {};
  return sql`
    insert into acts (organization, id, kind, automation_id, execution_id, about, note, details, until_at, made_by)
    select ${organization}, ${id}::uuid, ${kind}, on_what.*, ${note}, ${JSON.stringify(details)}::jsonb,
      ${until ?? null}::timestamptz, ${storable(by, longestName)}
    from (${subjectOf(act)}) as on_what (automation_id, execution_id, about)
    on conflict do nothing
  `;
}

/** The automation, the execution and the alert or mute of an act; no row if there is none. */
function subjectOf(act: NewAct): RawBuilder<unknown> {
  const own = sql`organization = ${act.organization}`;
  if (act.kind === 'mute') {
    return sql`
      select ${act.automationId ?? null}::uuid, null::text, null::uuid
      where (select count(*) from acts m where ${own} and ${isMuteInForce(sql`now()`)}) < ${sql.lit(mostMutes)}
    `;
  }
  if (act.kind === 'unmute') {
    return sql`
      select m.automation_id, null::text, m.id from acts m
      where ${own} and m.id = ${act.mute}::uuid and ${isMuteInForce(sql`now()`)}
    `;
  }
  if (act.kind === 'acknowledge') {
    return sql`
      select automation_id, facts ->> 'execution', id from alerts
      where ${own} and id = ${act.alert}::uuid and resolved_at is null
    `;
  }
  const isOpen = act.kind === 'close' ? sql`and state = 'running'` : sql``;
  return sql`
    select automation_id, execution_id, null::uuid from executions
    where ${own} and automation_id = ${act.automationId}::uuid and execution_id = ${act.executionId} ${isOpen}
  `;
}

/** True for an act `m` that is a mute nobody has ended, and that has not ended by a time. */
export function isMuteInForce(time: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`
    m.kind = 'mute' and (m.until_at is null or m.until_at > ${time}) and not exists (
      select from acts e where e.organization = m.organization and e.kind = 'unmute' and e.about = m.id
    )
  `;
}
