import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { messageOf } from '../../../kit/errors/message-of.ts';
import { codeOf } from '../../errors.ts';
import type { Logger } from '../../../kit/telemetry/logger.ts';
import { sql, type RawBuilder } from '../../sql.ts';
import { replicated, type Move, type NamedDatabase } from './moved-tables.ts';

/** The move cannot be made. The message is a sentence for people. */
export class MoveError extends Error {
  override readonly name = 'MoveError';
}

/** How a move waits for Postgres. */
export interface Waiting {
  logger: Logger;
  /** How long nothing may replicate until the move fails, in ms. Default: one minute. */
  patienceMs?: number;
}

/** Interval of the warnings while nothing replicates, in ms. */
const warnMs = 10_000;

/** Interval of checks on how far the target is behind, in ms. */
const lookMs = 200;

/**
 * Most errors of Postgres while this process waits. It repeats what failed, and a crash or a lost
 * connection may count once for each table and once for the changes.
 */
const mostErrors = 2 * (replicated.length + 1);

/** Looks in a row at which a slot is missing until it counts as lost: five seconds. */
const looksWithoutSlot = 25;

/**
 * Looks at a slot until the process that uses it is ended: five seconds. It ends a moment after its
 * subscription, unless the connection is broken.
 */
const looksAtActiveSlot = 25;

/** Pause between the end of that process and the drop of its slot, in ms. */
const forcedMs = 10;

/** SQLSTATEs of a slot that is in use, or gone. */
const changedSlot: ReadonlySet<string> = new Set(['55006', '42704']);

/** How far behind the target may be when the source closes, in bytes of WAL: a moment of work. */
const fewBytes = 1_000_000;

/**
 * Logical replication of one organization by Postgres itself: a publication with row filters and a
 * slot in the source, and a subscription in the target, all with the same name.
 * https://www.postgresql.org/docs/current/logical-replication.html
 */
export class Replication {
  readonly #move: Move;
  readonly #waiting: Waiting;
  readonly #name: string;
  /** What Postgres had counted at the first look: the cause may be mended since. */
  #earlierErrors = Infinity;
  /** When Postgres last replicated, and when that or its absence was last noted. */
  #busyAt = 0;
  #warnedAt = 0;

  private constructor(move: Move, waiting: Waiting, name: string) {
    this.#move = move;
    this.#waiting = waiting;
    this.#name = name;
  }

  /** A slot belongs to the whole server, so its name includes the database. */
  static async of(move: Move, waiting: Waiting): Promise<Replication> {
    const { rows } = await sql<{ oid: string }>`
      select oid::text from pg_database where datname = current_database()
    `.execute(move.source.db);
    const digest = createHash('sha256').update(move.organization).digest('hex').slice(0, 16);
    return new Replication(move, waiting, `runledger_move_${rows[0]?.oid}_${digest}`);
  }

  /** True if a move has begun to copy: {@link end} removes the publication last. */
  async isUnderWay(): Promise<boolean> {
    const { rows } = await sql`
      select from pg_publication where pubname = ${this.#name}
    `.execute(this.#move.source.db);
    return rows.length > 0 && (await this.#hasSubscription(sql`subslotname is not null`));
  }

  /** @throws {MoveError} with what a server does not allow, and how to allow it. */
  async requireAllowed(): Promise<void> {
    const { source, target } = this.#move;
    await requireLogicalWal(source);
    await requireReplicationRole(source);
    await requireReplicatingServer(source);
    await requireSubscriptionRole(target);
  }

  /** Begins to copy. If that fails, removes what it has made: a slot that nobody uses keeps WAL. */
  async begin(): Promise<void> {
    try {
      await this.#create();
      await this.resume();
    } catch (error) {
      // The first error says why; a database that is away keeps this one from its work, too.
      await this.end().catch(() => undefined);
      throw error;
    }
  }

  /** Creates the slot before the subscription, which databases of one server require. */
  async #create(): Promise<void> {
    const { source, target, organization } = this.#move;
    const tables = replicated.map(
      ({ name }) => sql`${sql.table(name)} where (organization = ${sql.lit(organization)})`,
    );
    await sql`
      create publication ${this.#id} for table ${sql.join(tables)} with (publish_via_partition_root = true)
    `.execute(source.db);
    await sql`select pg_create_logical_replication_slot(${this.#name}, 'pgoutput')`.execute(source.db);
    await sql`
      create subscription ${this.#id} connection ${sql.lit(source.url)} publication ${this.#id}
      with (create_slot = false, slot_name = ${sql.lit(this.#name)}, enabled = false)
    `.execute(target.db);
  }

  /**
   * Lets the target replicate by the source's present address: its password may have changed.
   * Writes to the publication which slots the target makes for its tables, so that {@link
   * endAtSource} finds them without the target.
   */
  async resume(): Promise<void> {
    const { source, target } = this.#move;
    const { rows } = await sql<{ slots: string }>`
      select format('^pg_%s_sync_[0-9]+_%s$', s.oid, system_identifier) as slots
      from pg_subscription s, pg_control_system() where ${this.#isMine}
    `.execute(target.db);
    await sql`comment on publication ${this.#id} is ${sql.lit(rows[0]?.slots ?? null)}`.execute(source.db);
    await sql`alter subscription ${this.#id} connection ${sql.lit(source.url)}`.execute(target.db);
    await sql`alter subscription ${this.#id} enable`.execute(target.db);
  }

  /**
   * Resolves with true once every table is copied and the target follows closely. Resolves with
   * false if the copy can never end, and must begin again.
   */
  async untilCopied(onProgress: (behind: string) => void): Promise<boolean> {
    this.#requireBusy(true);
    for (let looks = 0; looks < looksWithoutSlot;) {
      const { left, copies } = await this.#uncopied();
      const { behind, follows } = await this.#behind();
      if (left.length === 0 && behind < fewBytes) return true;
      onProgress(left.length > 0 ? `copying ${left.join(', ')}` : `${behind} bytes behind`);
      looks = left.length > 0 && (await this.#lacksSlot()) ? looks + 1 : 0;
      this.#requireBusy(copies && follows);
      await sleep(lookMs);
    }
    return false;
  }

  /**
   * Resolves once the target has on disk all that the source has written until now.
   * @throws {MoveError} when Postgres cannot copy.
   */
  async untilCaughtUp(): Promise<void> {
    const { rows } = await sql<{ lsn: string }>`
      select pg_logical_emit_message(false, 'runledger', 'moved')::text as lsn
    `.execute(this.#move.source.db);
    this.#requireBusy(true);
    for (;;) {
      const { behind, follows } = await this.#behind(rows[0]?.lsn);
      if (behind <= 0) return;
      // Counts the errors of the target, too.
      await this.#uncopied();
      this.#requireBusy(follows);
      await sleep(lookMs);
    }
  }

  /** Removes what {@link begin} made; safe to repeat, and after an interrupted `begin`. */
  async end(): Promise<void> {
    await this.endInTarget();
    await this.endAtSource();
  }

  /** Removes the subscription, also one that cannot reach the source. */
  async endInTarget(): Promise<void> {
    if (!(await this.#hasSubscription())) return;
    const { db } = this.#move.target;
    await sql`alter subscription ${this.#id} disable`.execute(db);
    await sql`alter subscription ${this.#id} set (slot_name = none)`.execute(db);
    await sql`drop subscription ${this.#id}`.execute(db);
  }

  /** Removes the slots and the publication. Needs no target. */
  async endAtSource(): Promise<void> {
    for (let looks = 0; ; looks += 1) {
      const isForced = looks >= looksAtActiveSlot;
      if (!(await this.#dropSlots(isForced))) break;
      // A target that this process cannot reach soon connects again.
      await sleep(isForced ? forcedMs : lookMs);
    }
    await sql`drop publication if exists ${this.#id}`.execute(this.#move.source.db);
  }

  /** A server lists the subscriptions `s` of all its databases. */
  get #isMine(): RawBuilder<unknown> {
    return sql`
      s.subname = ${this.#name} and s.subdbid = (select oid from pg_database where datname = current_database())
    `;
  }

  get #id(): RawBuilder<unknown> {
    return sql.id(this.#name);
  }

  async #hasSubscription(condition = sql`true`): Promise<boolean> {
    const { rows } = await sql`
      select from pg_subscription s where ${this.#isMine} and ${condition}
    `.execute(this.#move.target.db);
    return rows.length > 0;
  }

  /**
   * Drops the slots, and those of tables: without a connection, the target leaves them behind.
   * Resolves with true while a process uses one, which it ends if `isForced`.
   */
  async #dropSlots(isForced: boolean): Promise<boolean> {
    const { rows } = await sql<{ slot: string; active: boolean }>`
      select slot_name as slot, active_pid is not null as active from pg_replication_slots
      where database = current_database() and (slot_name = ${this.#name} or slot_name ~ (
        select obj_description(oid, 'pg_publication') from pg_publication where pubname = ${this.#name}
      ))
    `.execute(this.#move.source.db);
    for (const { slot, active } of rows) {
      if (active && !isForced) continue;
      const end = active ? sql`pg_terminate_backend(active_pid)` : sql`pg_drop_replication_slot(slot_name)`;
      const ended = sql`select ${end} from pg_replication_slots where slot_name = ${slot}`;
      await ended.execute(this.#move.source.db).catch((error: unknown) => {
        // A process uses it again, or has dropped it.
        if (!changedSlot.has(codeOf(error) ?? '')) throw error;
      });
    }
    return rows.length > 0;
  }

  /**
   * Warns, and fails in the end, while nothing replicates: Postgres counts no error when the target
   * cannot connect, or a server has no process left for it.
   */
  #requireBusy(isBusy: boolean): void {
    const { source, target, organization } = this.#move;
    const { logger, patienceMs = 60_000 } = this.#waiting;
    const now = performance.now();
    if (isBusy) this.#busyAt = this.#warnedAt = now;
    const idleMs = now - this.#busyAt;
    if (idleMs > patienceMs) {
      throw new MoveError(
        `the server of ${target.name} has not replicated from ${source.name} for ${Math.round(idleMs / 1_000)} s, and ` +
          'its log says why: the address or the password of the source, or too few max_wal_senders of ' +
          `${source.name} or max_logical_replication_workers of ${target.name}. Then repeat or cancel the move`,
      );
    }
    if (now - this.#warnedAt < Math.min(warnMs, patienceMs / 2)) return;
    this.#warnedAt = now;
    const databases = { source: source.name, target: target.name };
    logger.warn({ organization, ...databases }, 'Postgres does not replicate from the source now');
  }

  /**
   * The tables whose copy has not ended, and whether a process copies those that need one.
   * @throws {MoveError} when Postgres cannot copy.
   */
  async #uncopied(): Promise<{ left: string[]; copies: boolean }> {
    const { target } = this.#move;
    const { rows } = await sql<{ left: string[]; copies: boolean; errors: number }>`
      select coalesce((
          select array_agg(srrelid::regclass::text) from pg_subscription_rel where srsubid = s.oid and srsubstate <> 'r'
        ), '{}') as left,
        not exists (select from pg_subscription_rel where srsubid = s.oid and srsubstate in ('i', 'd', 'f'))
          or exists (select from pg_stat_subscription where subid = s.oid and relid is not null and pid is not null)
          as copies,
        coalesce((
          select apply_error_count + sync_error_count from pg_stat_subscription_stats where subid = s.oid
        ), 0)::integer as errors
      from pg_subscription s where ${this.#isMine}
    `.execute(target.db);
    const [state] = rows;
    if (state === undefined) throw new MoveError(`the subscription ${this.#name} is gone: repeat the move`);
    // A crash of the target resets its count.
    this.#earlierErrors = Math.min(this.#earlierErrors, state.errors);
    if (state.errors - this.#earlierErrors > mostErrors)
      throw new MoveError(`Postgres cannot copy: see the server log of ${target.name}`);
    return state;
  }

  /**
   * True if a table is copied, but the slot is gone or lost from which it would catch up. Postgres
   * drops that slot before it commits that the table has caught up: after a crash of the target in
   * between, it asks for the slot for ever, and counts no error. A slot whose WAL is gone is such a
   * case, too.
   * https://doxygen.postgresql.org/tablesync_8c_source.html process_syncing_tables_for_sync
   */
  async #lacksSlot(): Promise<boolean> {
    const { source, target } = this.#move;
    const { rows: needed } = await sql<{ slot: string }>`
      select format('pg_%s_sync_%s_%s', srsubid, srrelid, system_identifier) as slot
      from pg_subscription_rel join pg_subscription s on s.oid = srsubid, pg_control_system()
      where ${this.#isMine} and srsubstate = 'f'
    `.execute(target.db);
    if (needed.length === 0) return false;
    const { rows: present } = await sql`
      select from pg_replication_slots where slot_name = any (${needed.map(({ slot }) => slot)}::text[])
        and wal_status is distinct from 'lost'
    `.execute(source.db);
    return present.length < needed.length;
  }

  /**
   * Bytes of WAL that the target has not confirmed, up to now or up to a place, and whether it
   * follows.
   */
  async #behind(place?: string): Promise<{ behind: number; follows: boolean }> {
    const { source } = this.#move;
    const { rows } = await sql<{ behind: string; lost: boolean; follows: boolean }>`
      select pg_wal_lsn_diff(${place === undefined ? sql`pg_current_wal_lsn()` : sql`${place}::pg_lsn`},
          confirmed_flush_lsn)::bigint as behind,
        wal_status = 'lost' as lost, active_pid is not null as follows
      from pg_replication_slots where slot_name = ${this.#name}
    `.execute(source.db);
    const [slot] = rows;
    if (slot === undefined || slot.lost)
      throw new MoveError(`the replication slot of ${source.name} is lost: cancel the move and start it again`);
    return { behind: Number(slot.behind), follows: slot.follows };
  }
}

async function requireLogicalWal({ name, db }: NamedDatabase): Promise<void> {
  const { rows } = await sql<{ level: string }>`select current_setting('wal_level') as level`.execute(db);
  const [{ level } = { level: '' }] = rows;
  if (level === 'logical') return;
  throw new MoveError(
    `wal_level of the database ${name} is ${level}, and Postgres needs logical to copy an organization: CloudNativePG ` +
      'has it, RDS turns it on with rds.logical_replication, Cloud SQL with cloudsql.logical_decoding',
  );
}

async function requireReplicationRole({ name, db }: NamedDatabase): Promise<void> {
  const { rows } = await sql`
    select from pg_roles mine where rolname = current_user and (rolreplication or rolsuper or exists (
      select from pg_roles other
      where other.rolname = 'rds_replication' and pg_has_role(mine.oid, other.oid, 'member')
    ))
  `.execute(db);
  if (rows.length > 0) return;
  throw new MoveError(
    `the user of the database ${name} may not replicate: give it the attribute REPLICATION, ` +
      'on RDS the role rds_replication',
  );
}

/** A pooler may take no connection that replicates. */
async function requireReplicatingServer({ name, url }: NamedDatabase): Promise<void> {
  const address = new URL(url);
  address.searchParams.set('replication', 'database');
  const client = new Client(address.href);
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new MoveError(
      `the address of the database ${name} takes no connection that replicates (${messageOf(error)}): ` +
        'give this command the address of Postgres itself, not of a pooler',
      { cause: error },
    );
  } finally {
    await client.end();
  }
}

async function requireSubscriptionRole({ name, db }: NamedDatabase): Promise<void> {
  const { rows } = await sql`
    select from pg_roles mine where rolname = current_user and (rolsuper or exists (
      select from pg_roles other
      where other.rolname in ('pg_create_subscription', 'rds_superuser', 'cloudsqlsuperuser')
        and pg_has_role(mine.oid, other.oid, 'member')
    ))
  `.execute(db);
  if (rows.length > 0) return;
  throw new MoveError(
    `the user of the database ${name} may not make a subscription: give it the role pg_create_subscription, ` +
      'or before Postgres 16 make it a superuser for the move',
  );
}
