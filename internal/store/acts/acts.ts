import { randomBytes } from 'node:crypto';
import { storable } from '../../event/stored-text.ts';
import type { Ending } from '../../event/closing.ts';
import { unavailable } from '../../kit/errors/request-error.ts';
import { saltSize } from '../../ledger/event-digest.ts';
import type { MacKey } from '../../ledger/mac.ts';
import { executionsWithId } from '../compacted/expanded.ts';
import type { Database, Tables } from '../database.ts';
import { isForbidden, isTimeout, isUnavailable, movedOrganizations } from '../errors.ts';
import { sql, type Transaction } from '../sql.ts';
import type { MuteWindow } from '../tables/acts-table.ts';
import { macOfAct, type ActRow } from './act-mac.ts';
import { readMutes } from './read-mutes.ts';

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

/** What an owner does. */
export type OwnersAct =
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
  | ({ kind: 'note' } & Run);

/** An act of an owner. */
export type NewAct = Signed & OwnersAct;

/** Most mutes of an organization in force or to come, which each tick of the controller reads. */
const mostMutes = 500;

/** Maximum length of a name, in characters. */
const longestName = 200;

/** Writes what owners do about alerts and executions. */
export class Acts {
  readonly #databaseOf: (organization: string) => Database;
  readonly #actKeys: readonly MacKey[];

  /** @param actKeys the first one makes the MACs of acts; empty without a log. */
  constructor(databaseOf: (organization: string) => Database, actKeys: readonly MacKey[] = []) {
    this.#databaseOf = databaseOf;
    this.#actKeys = actKeys;
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
          if (await insert(trx, act, this.#actKeys)) return true;
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

/** What an act is about, as its row says. */
type Subject = Pick<ActRow, 'automation_id' | 'execution_id' | 'about'>;

/** Resolves with false if there is nothing to write, or if it is there. */
async function insert(trx: Transaction<Tables>, act: NewAct, actKeys: readonly MacKey[]): Promise<boolean> {
  const subject = await subjectOf(trx, act, actKeys);
  if (subject === undefined) return false;
  const { automation_id, execution_id, about } = subject;
  const until = act.kind === 'mute' ? act.until : undefined;
  const details = act.kind === 'mute' ? { window: act.window } : act.kind === 'close' ? { as: act.as } : {};
  const [key] = actKeys;
  // As Postgres will have it: the MAC is over that.
  const { rows } = await sql<ActRow>`
    select ${act.organization}::text as organization, ${act.id}::uuid as id, ${act.kind}::text as kind,
      ${automation_id}::uuid as automation_id, ${execution_id}::text as execution_id, ${about}::uuid as about,
      ${act.note}::text as note, ${JSON.stringify(details)}::jsonb as details,
      ${until ?? null}::timestamptz(3) as until_at, ${storable(act.by, longestName)}::text as made_by,
      now()::timestamptz(3) as made_at, ${key === undefined ? null : randomBytes(saltSize)}::bytea as salt,
      null::bytea as note_digest
  `.execute(trx);
  const values = rows.map((row) => ({
    ...row,
    details: JSON.stringify(row.details),
    mac: key === undefined ? null : macOfAct(key, row),
  }));
  const query = trx.insertInto('acts').values(values);
  const { numInsertedOrUpdatedRows = 0n } = await query.onConflict((on) => on.doNothing()).executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows > 0n;
}

/** The automation, the execution and the alert or mute of an act; undefined if there is none. */
async function subjectOf(
  trx: Transaction<Tables>,
  act: NewAct,
  actKeys: readonly MacKey[],
): Promise<Subject | undefined> {
  const { organization } = act;
  if (act.kind === 'mute' || act.kind === 'unmute') {
    const mutes = await readMutes(trx, sql`now()`, actKeys, organization);
    const none = { execution_id: null, about: null };
    if (act.kind === 'mute') {
      return mutes.length < mostMutes ? { ...none, automation_id: act.automationId ?? null } : undefined;
    }
    const mute = mutes.find(({ id }) => id === act.mute.toLowerCase());
    return mute && { ...none, automation_id: mute.automation_id, about: mute.id };
  }
  const subject =
    act.kind === 'acknowledge'
      ? sql<Subject>`
          select automation_id, facts ->> 'execution' as execution_id, id as about from alerts
          where organization = ${organization} and id = ${act.alert}::uuid and resolved_at is null
        `
      : sql<Subject>`
          select automation_id, execution_id, null as about from (
            ${executionsWithId({
              organization: sql`${organization}::text`,
              automationId: sql`${act.automationId}::uuid`,
              executionId: sql`${act.executionId}::text`,
            })}
          ) as e where state = 'running' or ${act.kind !== 'close'}::boolean
        `;
  return (await subject.execute(trx)).rows[0];
}
