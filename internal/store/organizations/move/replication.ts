import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { messageOf } from '../../../kit/errors/message-of.ts';
import { sql, type RawBuilder } from '../../sql.ts';
import { replicated, type Move, type NamedDatabase } from './moved-tables.ts';

/** The move cannot be made. The message is a sentence for people. */
export class MoveError extends Error {
  override readonly name = 'MoveError';
}

/** Interval of checks on how far the target is behind, in ms. */
const lookMs = 200;

/**
 * Most errors of Postgres while this process waits. It repeats what failed, and a crash or a lost
 * connection may count once for each table and once for the changes.
 */
const mostErrors = 2 * (replicated.length + 1);

/** Looks in a row at which a slot is missing until it counts as lost: five seconds. */
const looksWithoutSlot = 25;

/** How far behind the target may be when the source closes, in bytes of WAL: a moment of work. */
const fewBytes = 1_000_000;

/**
 * Logical replication of one organization by Postgres itself: a publication with row filters and a
 * slot in the source, and a subscription in the target, all with the same name.
 * https://www.postgresql.org/docs/current/logical-replication.html
 */
export class Replication {
  readonly #move: Move;
  readonly #name: string;
  /** What Postgres had counted at the first look: the cause may be mended since. */
  #earlierErrors = Infinity;

  private constructor(move: Move, name: string) {
    this.#move = move;
    this.#name = name;
  }

  /** A slot belongs to the whole server, so its name includes the database. */
  static async of(move: Move): Promise<Replication> {
    const { rows } = await sql<{ oid: string }>`
      select oid::text from pg_database where datname = current_database()
    `.execute(move.source.db);
    const digest = createHash('sha256').update(move.organization).digest('hex').slice(0, 16);
    return new Replication(move, `runledger_move_${rows[0]?.oid}_${digest}`);
  }

  /** True if the target has a subscription, which a move began. */
  async isUnderWay(): Promise<boolean> {
    const { rows } = await sql`
      select from pg_subscription where subname = ${this.#name}
        and subdbid = (select oid from pg_database where datname = current_database())
    `.execute(this.#move.target.db);
    return rows.length > 0;
  }

  /** @throws {MoveError} with what a server does not allow, and how to allow it. */
  async requireAllowed(): Promise<void> {
    const { source, target } = this.#move;
    await requireLogicalWal(source);
    await requireReplicationRole(source);
    await requireReplicatingServer(source);
    await requireSubscriptionRole(target);
  }

  /**
   * Begins to copy. Creates the slot before the subscription, which databases of one server
   * require.
   */
  async begin(): Promise<void> {
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
      with (create_slot = false, slot_name = ${sql.lit(this.#name)})
    `.execute(target.db);
  }

  /**
   * Resolves with true once every table is copied and the target follows closely. Resolves with
   * false if the copy can never end, and must begin again.
   */
  async untilCopied(onProgress: (behind: string) => void): Promise<boolean> {
    for (let looks = 0; looks < looksWithoutSlot;) {
      const left = await this.#uncopied();
      const behind = await this.#behind();
      if (left.length === 0 && behind < fewBytes) return true;
      onProgress(left.length > 0 ? `copying ${left.join(', ')}` : `${behind} bytes behind`);
      looks = left.length > 0 && (await this.#lacksSlot()) ? looks + 1 : 0;
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
    while ((await this.#behind(rows[0]?.lsn)) > 0) {
      // Counts the errors of the target, too.
      await this.#uncopied();
      await sleep(lookMs);
    }
  }

  /** Removes what {@link begin} made; safe to repeat, and after an interrupted `begin`. */
  async end(): Promise<void> {
    const { source, target } = this.#move;
    if (await this.isUnderWay()) {
      await sql`alter subscription ${this.#id} disable`.execute(target.db);
      await sql`alter subscription ${this.#id} set (slot_name = none)`.execute(target.db);
      await sql`drop subscription ${this.#id}`.execute(target.db);
    }
    await this.#dropSlots();
    await sql`drop publication if exists ${this.#id}`.execute(source.db);
  }

  get #id(): RawBuilder<unknown> {
    return sql.id(this.#name);
  }

  /** The process that uses a slot ends a moment after its subscription. */
  async #dropSlots(): Promise<void> {
    for (;;) {
      const { rows } = await sql<{ active: boolean }>`
        select active_pid is not null as active, case when active_pid is null then pg_drop_replication_slot(slot_name) end
        from pg_replication_slots where slot_name = ${this.#name}
      `.execute(this.#move.source.db);
      if (rows.every(({ active }) => !active)) return;
      await sleep(lookMs);
    }
  }

  /** The tables whose copy has not ended. @throws {MoveError} when Postgres cannot copy. */
  async #uncopied(): Promise<string[]> {
    const { target } = this.#move;
    const { rows } = await sql<{ left: string[]; errors: number }>`
      select coalesce((
          select array_agg(srrelid::regclass::text) from pg_subscription_rel where srsubid = s.oid and srsubstate <> 'r'
        ), '{}') as left,
        coalesce((
          select apply_error_count + sync_error_count from pg_stat_subscription_stats where subid = s.oid
        ), 0)::integer as errors
      from pg_subscription s where subname = ${this.#name}
    `.execute(target.db);
    const [state] = rows;
    if (state === undefined) throw new MoveError(`the subscription ${this.#name} is gone: repeat the move`);
    // A crash of the target resets its count.
    this.#earlierErrors = Math.min(this.#earlierErrors, state.errors);
    if (state.errors - this.#earlierErrors > mostErrors)
      throw new MoveError(`Postgres cannot copy: see the server log of ${target.name}`);
    return state.left;
  }

  /**
   * True if a table is copied, but the slot is gone from which it would catch up. Postgres drops
   * that slot before it commits that the table has caught up: after a crash of the target in
   * between, it asks for the slot for ever, and counts no error.
   * https://doxygen.postgresql.org/tablesync_8c_source.html process_syncing_tables_for_sync
   */
  async #lacksSlot(): Promise<boolean> {
    const { source, target } = this.#move;
    const { rows: needed } = await sql<{ slot: string }>`
      select format('pg_%s_sync_%s_%s', srsubid, srrelid, system_identifier) as slot
      from pg_subscription_rel join pg_subscription s on s.oid = srsubid, pg_control_system()
      where subname = ${this.#name} and srsubstate = 'f'
    `.execute(target.db);
    if (needed.length === 0) return false;
    const { rows: present } = await sql`
      select from pg_replication_slots where slot_name = any (${needed.map(({ slot }) => slot)}::text[])
    `.execute(source.db);
    return present.length < needed.length;
  }

  /** Bytes of WAL that the target has not confirmed; up to now, or up to a place. */
  async #behind(place?: string): Promise<number> {
    const { source } = this.#move;
    const { rows } = await sql<{ behind: string; lost: boolean }>`
      select pg_wal_lsn_diff(${place === undefined ? sql`pg_current_wal_lsn()` : sql`${place}::pg_lsn`},
          confirmed_flush_lsn)::bigint as behind,
        wal_status = 'lost' as lost
      from pg_replication_slots where slot_name = ${this.#name}
    `.execute(source.db);
    const [slot] = rows;
    if (slot === undefined || slot.lost)
      throw new MoveError(`the replication slot of ${source.name} is lost: cancel the move and start it again`);
    return Number(slot.behind);
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
    select from pg_roles where rolname = current_user and (rolreplication or rolsuper)
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
