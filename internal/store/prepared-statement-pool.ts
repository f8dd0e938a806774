import { hash } from 'node:crypto';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { DatabaseError, type Pool, type PoolClient } from 'pg';

/** A server that has become a standby: its address may lead to the new primary by now. */
const readOnly = '25006';

/**
 * What Postgres answers when a connection does not have the statement that was prepared on it, has
 * another by that name, or one that fits the schema no more: something between us hands a session
 * to several clients, or the schema changed.
 */
const notPrepared = new Set(['26000', '42P05', '0A000']);

/**
 * A pool that uses a connection again only when the server itself has said how its last statement
 * ended. Otherwise (a client-side time-out, a cut network) an answer may still be on its way, or
 * never come: such a connection is closed. So is that to a read-only server.
 *
 * Statements with parameters are prepared once a connection: for the few events of a batch under
 * light load, Postgres would otherwise take at least twice the CPU time (it plans the statement
 * anew each time). Behind a pooler that cannot do that, the first refusal ends it, and what was
 * refused is sent again as it is: it had not begun.
 */
export class PreparedStatementPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #taken = new Set<PoolClient>();
  /** By text. There are as many as there are different statements in the code. */
  readonly #statements = new Map<string, { name: string; text: string }>();
  #prepares = true;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  get options(): object {
    return this.#pool.options;
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#pool.connect();
    this.#taken.add(client);
    let doubtful = false;
    const doubt = (error: unknown): never => {
      doubtful ||= !(error instanceof DatabaseError) || error.code === readOnly;
      throw error;
    };
    // While a connection is taken the pool does not listen: without this, its loss would end the
    // process.
    const onError = (): void => {
      doubtful = true;
    };
    client.on('error', onError);
    const query = (sql: string, values: unknown[]): Promise<unknown> => this.#query(client, sql, values).catch(doubt);
    return {
      // Kysely's other form, with a cursor, is for streaming, which needs a package that is not
      // there.
      query: query as unknown as PostgresPoolClient['query'],
      release: (destroy = false) => {
        this.#taken.delete(client);
        client.release(destroy || doubtful);
        client.off('error', onError);
      },
    };
  }

  async #query(client: PoolClient, text: string, values: unknown[]): Promise<unknown> {
    if (!this.#prepares || values.length === 0) return client.query(text, values);
    try {
      return await this.#queryPrepared(client, text, values);
    } catch (error) {
      if (!(error instanceof DatabaseError) || !notPrepared.has(error.code ?? '')) throw error;
      this.#prepares = false;
      return client.query(text, values);
    }
  }

  /**
   * pg makes closures that V8 allocates in the old generation, where they keep what they see until
   * a full garbage collection: 16 KB of parameters and 5 KB of text for 30 events
   * (test/bench/README.md). So they are left with none.
   */
  async #queryPrepared(client: PoolClient, text: string, values: readonly unknown[]): Promise<unknown> {
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
   * Closes the connections, also those whose statement is still under way: whoever waits for it is
   * gone by now.
   */
  async end(): Promise<void> {
    const ended = this.#pool.end();
    for (const client of this.#taken) client.end().catch(() => undefined);
    await ended;
  }
}
