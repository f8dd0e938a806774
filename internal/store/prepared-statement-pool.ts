import { hash } from 'node:crypto';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { queryInOneTrip, type Settings } from './pg-quirks.ts';

/** SQLSTATE of a server that became a standby: its address may lead to the new primary. */
const readOnly = '25006';

/**
 * SQLSTATEs of a missing, different or outdated prepared statement: the schema changed, or an
 * unrecognized pooler shares the session.
 */
const notPrepared = new Set(['26000', '42P05', '0A000']);

/**
 * Statements that must come first in a transaction: those that Postgres runs alone, and the start
 * of a transaction with an isolation level.
 */
const runsAlone = /^\s*(?:(?:create|drop) index concurrently|reindex table concurrently|vacuum|start transaction) /;

/** Sends a statement and resolves with its result. */
type Send = (client: PoolClient, text: string, values: unknown[]) => Promise<unknown>;

export interface SessionOptions {
  /** True to prepare statements, except behind a pooler. */
  prepares: boolean;
  /** True for a connection behind a pooler, once it is open. */
  isPooled: (client: PoolClient) => boolean;
  /** The settings that begin each transaction behind a pooler. */
  settings: Settings;
}

/**
 * A pool that reuses a connection only after the server reported the end of its last statement. It
 * closes connections to a read-only server, and after a client-side time-out or a cut network,
 * since a late answer may arrive. Preparing each statement once per connection halves Postgres' CPU
 * time for small batches. If that fails, the pool stops preparing and sends the statement again;
 * the refused one had not begun. Behind a pooler it prepares nothing (docs/design/durability.md).
 */
export class PreparedStatementPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #taken = new Set<PoolClient>();
  /** By text; the code bounds their number. */
  readonly #statements = new Map<string, { name: string; text: string }>();
  readonly #session: SessionOptions;
  #prepares: boolean;
  #ended: Promise<void> | undefined;

  constructor(pool: Pool, session: SessionOptions) {
    this.#pool = pool;
    this.#session = session;
    this.#prepares = session.prepares;
  }

  get options(): object {
    return this.#pool.options;
  }

  connect(): Promise<PostgresPoolClient> {
    return this.#connect((client, text, values) => this.#query(client, text, values));
  }

  /**
   * The same connections, but each statement runs unprepared in its own transaction, which begins
   * with these. They replace the settings used behind a pooler.
   */
  inTransactions(begin: readonly string[]): PostgresPool {
    const before = ['begin', ...begin].map((text) => ({ text, values: [] }));
    return this.#lending(async (client, text, values) => {
      try {
        return await queryInOneTrip(client, { text, values, before, after: [{ text: 'commit', values: [] }] });
      } catch (error) {
        if (error instanceof DatabaseError) await client.query('rollback');
        throw error;
      }
    });
  }

  /** The same connections, but these statements follow each statement in its transaction. */
  followedBy(after: readonly Settings[]): PostgresPool {
    return this.#lending((client, text, values) => this.#query(client, text, values, after));
  }

  #lending(send: Send): PostgresPool {
    return { options: this.options, connect: () => this.#connect(send), end: () => Promise.resolve() };
  }

  async #connect(send: Send): Promise<PostgresPoolClient> {
    const client = await this.#pool.connect();
    if (this.#ended !== undefined) {
      // It was still being opened when the pool ended: its statement would run for nobody.
      client.release(true);
      throw new Error('the connections to Postgres are closed');
    }
    this.#taken.add(client);
    let doubtful = false;
    const doubt = (error: unknown): never => {
      doubtful ||= !(error instanceof DatabaseError) || error.code === readOnly;
      throw error;
    };
    // The pool does not listen while a connection is in use, and an unhandled error would end the
    // process.
    const onError = (): void => {
      doubtful = true;
    };
    client.on('error', onError);
    const query = (sql: string, values: unknown[]): Promise<unknown> => send(client, sql, values).catch(doubt);
    return {
      // Kysely's form with a cursor is for streaming, which needs a package that is not installed.
      query: query as unknown as PostgresPoolClient['query'],
      release: (destroy = false) => {
        this.#taken.delete(client);
        client.release(destroy || doubtful);
        client.off('error', onError);
      },
    };
  }

  async #query(client: PoolClient, text: string, values: unknown[], after?: readonly Settings[]): Promise<unknown> {
    const send = (before: readonly Settings[] = []): Promise<unknown> =>
      before.length === 0 && after === undefined
        ? client.query(text, values)
        : queryInOneTrip(client, { text, values, before, ...(after && { after }) });
    if (this.#session.isPooled(client)) {
      const begins = client.getTransactionStatus() === 'I' && !runsAlone.test(text);
      return begins ? send([this.#session.settings]) : client.query(text, values);
    }
    if (!this.#prepares || values.length === 0) return send();
    try {
      return await this.#queryPrepared(client, text, values, after);
    } catch (error) {
      if (!(error instanceof DatabaseError) || !notPrepared.has(error.code ?? '')) throw error;
      this.#prepares = false;
      return send();
    }
  }

  /**
   * Empties the parameters after use: closures of pg would keep 21 KB per 30 events until a full
   * garbage collection.
   */
  async #queryPrepared(
    client: PoolClient,
    text: string,
    values: readonly unknown[],
    after?: readonly Settings[],
  ): Promise<unknown> {
    if (after !== undefined) {
      const named = after.map((each) => ({ ...each, ...this.#statement(each.text) }));
      return queryInOneTrip(client, { ...this.#statement(text), values, after: named });
    }
    const sent = [...values];
    try {
      return await client.query({ ...this.#statement(text), values: sent });
    } finally {
      sent.length = 0;
    }
  }

  #statement(text: string): { name: string; text: string } {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = { name: `runledger_${hash('sha256', text).slice(0, 16)}`, text };
    this.#statements.set(text, statement);
    return statement;
  }

  /**
   * Closes all connections, even those with a statement under way: no caller waits for them any
   * more.
   */
  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    for (const client of this.#taken) client.end().catch(() => undefined);
    return this.#ended;
  }
}
