import { Query, type PoolClient, type QueryResult } from 'pg';

/*
 * What we use of pg beyond its documentation; test/unit/quirks.test.ts names the version.
 */

/** The messages of errors without a code: for a lost connection, and for none in time. */
export const lostConnection = /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered/;

/** The message of a statement that took longer than `query_timeout`. */
export const readTimeout = 'Query read timeout';

/** A statement that sets settings of its transaction. Its parameters are texts. */
export interface Settings {
  text: string;
  values: readonly string[];
}

/**
 * Sends settings and another statement in one round trip. Postgres runs both in one transaction; if
 * the statement is `begin`, the settings belong to the transaction that it begins. If the settings
 * fail, the statement does not run. Resolves with its result.
 */
export function queryWithSettings(
  client: PoolClient,
  settings: Settings,
  text: string,
  values: readonly unknown[],
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    // In the extended protocol, the one Sync at the end also ends the transaction.
    const config = { text, values: [...values], queryMode: 'extended' };
    const query = new Query(config, (error, results) => {
      config.values.length = 0;
      if (error) reject(error);
      else resolve((results as unknown as QueryResult[])[1] as QueryResult);
    });
    const submit = query.submit;
    query.submit = (connection) => {
      connection.stream.cork();
      try {
        connection.parse({ text: settings.text, name: '', types: [] }, true);
        connection.bind({ values: [...settings.values] }, true);
        connection.describe({ type: 'P', name: '' }, true);
        connection.execute(null, true);
        submit.call(query, connection);
      } finally {
        connection.stream.uncork();
      }
    };
    client.query(query);
  });
}
