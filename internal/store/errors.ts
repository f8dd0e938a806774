/**
 * SQLSTATE classes that the data causes: data exception, constraint violation, program limit,
 * raised by a trigger.
 */
const dataClasses = new Set(['22', '23', '54', 'P0']);

const checkViolation = '23514';
const uniqueViolation = '23505';

/**
 * True when Postgres refuses what the statement holds, so that repeating it cannot help. Everything
 * else (connection, resources, deadlock, shutdown, read-only, missing privileges, …) may pass, and
 * is tried again.
 */
export function isDataError(error: unknown): boolean {
  const code = codeOf(error);
  if (code?.length !== 5) return false;
  return dataClasses.has(code.slice(0, 2)) && !isPartitionMoved(error, code);
}

/** True when the statement holds a row that is there already, or holds one twice. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === uniqueViolation;
}

/** The SQLSTATE of an error of Postgres, or Node's code of one of the connection. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * A row on its way into the DEFAULT partition while the partition of its day is made is refused as
 * a violation of a check that has no name: it belongs elsewhere now. Repeated, the statement finds
 * the right place.
 */
function isPartitionMoved(error: unknown, code: string): boolean {
  return code === checkViolation && (error as { constraint?: string }).constraint === undefined;
}
