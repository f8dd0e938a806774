import { Query, type Connection, type PoolClient, type QueryResult } from 'pg';

/*
 * What we use of pg beyond its documentation; test/unit/quirks.test.ts names the version.
 */

/** The messages of errors without a code: for a lost connection, and for none in time. */
export const lostConnection = /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered/;

/** The message of a statement that took longer than `query_timeout`. */
export const readTimeout = 'Query read timeout';

/** A statement that sets settings of its transaction, or that completes it. */
export interface Settings {
  text: string;
  values: readonly unknown[];
  /** Prepares the statement once per connection, under this name. */
  name?: string;
}

/** A statement with what precedes and follows it in its transaction. */
export interface Trip extends Settings {
  before?: readonly Settings[];
  after?: readonly Settings[];
}

/**
 * Sends several statements in one round trip. Postgres runs all in one transaction, unless the
 * statement is `begin`: then the settings belong to the transaction that it begins. After a failure
 * none of them has run. Resolves with the result of the main one.
 */
export function queryInOneTrip(
  client: PoolClient,
  { text, values, name, before = [], after = [] }: Trip,
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    // In the extended protocol, the one Sync at the end also ends the transaction.
    const config = { text, values: [...values], queryMode: 'extended', ...(name !== undefined && { name }) };
    let noteParsed = (): void => undefined;
    const query = new Query(config, (error, results) => {
      config.values.length = 0;
      noteParsed();
      if (error) reject(error);
      else resolve([results].flat()[before.length] as QueryResult);
    });
    const submit = query.submit;
    query.submit = (given) => {
      const connection = given as OpenConnection;
      noteParsed = notingParsed(connection, [
        ...before,
        { text, values, ...(name !== undefined && { name }) },
        ...after,
      ]);
      connection.stream.cork();
      try {
        connection.sync = () => undefined;
        for (const each of before) submitBeside(connection, each);
        submit.call(query, connection);
        for (const each of after) submitBeside(connection, each);
      } finally {
        delete (connection as Partial<Connection>).sync;
        connection.sync();
        connection.stream.uncork();
      }
    };
    client.query(query);
  });
}

/** Undocumented in pg: the named statements that the server has, or that it was sent. */
type OpenConnection = Connection & Record<'parsedStatements' | 'submittedNamedStatements', Record<string, string>>;

/** The main query receives what Postgres answers. */
function submitBeside(connection: Connection, { text, values, name }: Settings): void {
  const config = { text, values: [...values], queryMode: 'extended', ...(name !== undefined && { name }) };
  new Query(config, () => undefined).submit(connection);
}

/**
 * Returns what to call after the answer, so that the client knows which of these statements are
 * prepared: it takes each answer for one of the main query. Also after a failure: those before the
 * one that failed are, and Postgres would refuse to prepare them again.
 */
function notingParsed(connection: OpenConnection, all: readonly Settings[]): () => void {
  const { parsedStatements, submittedNamedStatements } = connection;
  const isKnown = ({ name = '' }: Settings): boolean => name in parsedStatements || name in submittedNamedStatements;
  const sent = all.filter((each) => !isKnown(each));
  let parsed = 0;
  const count = (): void => {
    parsed += 1;
  };
  connection.on('parseComplete', count);
  return () => {
    connection.off('parseComplete', count);
    for (const { name = '' } of sent) delete submittedNamedStatements[name];
    for (const { name, text } of sent.slice(0, parsed)) if (name !== undefined) parsedStatements[name] = text;
  };
}
