/** SQLSTATE classes that the data causes: data exception, constraint violation, program limit, raised by a trigger. */
const dataClasses = new Set(['22', '23', '54', 'P0']);

/**
 * True when Postgres refuses what the statement holds, so that repeating it cannot help. Everything else (connection,
 * resources, deadlock, shutdown, read-only, missing privileges, …) may pass, and is tried again.
 */
export function isDataError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.length === 5 && dataClasses.has(code.slice(0, 2));
}
