import { messageOf } from '../kit/errors/message-of.ts';
import { lostConnection, readTimeout } from './pg-quirks.ts';

/**
 * SQLSTATE classes of errors in the data: data exception, constraint violation, program limit,
 * trigger.
 */
const dataClasses = new Set(['22', '23', '54', 'P0']);

const checkViolation = '23514';
const uniqueViolation = '23505';
const queryCanceled = '57014';
const insufficientPrivilege = '42501';

/**
 * True when Postgres rejects the data, so that a retry cannot help. Other errors (connection,
 * resources, deadlock, shutdown, …) may pass, and the caller retries.
 */
export function isDataError(error: unknown): boolean {
  const code = codeOf(error);
  if (code?.length !== 5) return false;
  return dataClasses.has(code.slice(0, 2)) && !isPartitionMoved(error, code);
}

/**
 * True when only this work is at fault: Postgres refuses its data, it took too long, or our code
 * failed on it. The transaction can return to a savepoint and continue with other work.
 */
export function isOfStatement(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined || code.startsWith('ERR_')) return !lostConnection.test(messageOf(error)) && !isTimeout(error);
  return code === queryCanceled || isDataError(error);
}

/** True when a row of the statement already exists, or occurs in it twice. */
export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === uniqueViolation;
}

/**
 * The organizations that have left the database, if it refused a statement for that; otherwise
 * undefined.
 */
export function movedOrganizations(error: unknown): ReadonlySet<string> | undefined {
  if (codeOf(error) !== 'RL001') return undefined;
  return new Set(String((error as { detail?: string }).detail).split('\n'));
}

/** True when an execution of a batch is compacted, so that nothing of the batch was stored. */
export function isCompacted(error: unknown): boolean {
  return codeOf(error) === 'RL002';
}

/** True when a statement exceeded the statement time-out or the client's time-out. */
export function isTimeout(error: unknown): boolean {
  return codeOf(error) === queryCanceled || messageOf(error) === readTimeout;
}

/** True when the user lacks a right. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === insufficientPrivilege;
}

/**
 * SQLSTATEs worth a retry: connection, conflict, resources, operator, system, a schema that is not
 * migrated yet.
 */
const passing = /^(?:08|40|53|57|58)...$|^42P01$|^25006$|^28...$|^3D000$/;

/** True when the server does not answer or cannot serve now; false for an error in a statement. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return lostConnection.test(messageOf(error));
  return code.length === 5 ? passing.test(code) : /^E[A-Z]+$/.test(code);
}

/** The SQLSTATE of a Postgres error, or Node's code for a connection error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * While the partition of a day is created, Postgres rejects its rows in DEFAULT as violations of an
 * unnamed check. A retry finds the new partition.
 */
function isPartitionMoved(error: unknown, code: string): boolean {
  return code === checkViolation && (error as { constraint?: string }).constraint === undefined;
}
