import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { DatabaseError, type Pool, type PoolClient } from 'pg';

/** A server that has become a standby: its address may lead to the new primary by now. */
const readOnly = '25006';

/**
 * A pool that uses a connection again only when the server itself has said how its last statement ended. Otherwise (a
 * client-side time-out, a cut network) an answer may still be on its way, or never come: such a connection is closed.
 * So is that to a read-only server.
 */
export class CautiousPool implements PostgresPool {
  readonly #pool: Pool;
  readonly #taken = new Set<PoolClient>();

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
    // While a connection is taken the pool does not listen: without this, its loss would end the process.
    const onError = (): void => {
      doubtful = true;
    };
    client.on('error', onError);
    const query = (sql: string, values: unknown[]): Promise<unknown> => client.query(sql, values).catch(doubt);
    return {
      // Kysely's other form, with a cursor, is for streaming, which needs a package that is not there.
      query: query as unknown as PostgresPoolClient['query'],
      release: (destroy = false) => {
        this.#taken.delete(client);
        client.release(destroy || doubtful);
        client.off('error', onError);
      },
    };
  }

  /** Closes the connections, also those whose statement is still under way: whoever waits for it is gone by now. */
  async end(): Promise<void> {
    const ended = this.#pool.end();
    for (const client of this.#taken) client.end().catch(() => undefined);
    await ended;
  }
}
