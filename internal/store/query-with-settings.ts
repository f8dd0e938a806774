import { Query, type PoolClient, type QueryResult } from 'pg';

/**
 * Sends a statement without parameters and, in the same round trip, another one after it. Postgres
 * runs both in one transaction, unless the second one is `begin`: then the first one belongs to the
 * transaction that it begins. Resolves with the result of the second one.
 */
export function queryWithSettings(
  client: PoolClient,
  settings: string,
  text: string,
  values: readonly unknown[],
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    // The extended protocol: its one Sync at the end is the end of the transaction.
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
        connection.parse({ text: settings, name: '', types: [] }, true);
        connection.bind({}, true);
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
