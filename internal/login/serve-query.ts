import { unavailable } from '../kit/errors/request-error.ts';
import { isForbidden, isTimeout, isUnavailable } from '../store/errors.ts';

/** Runs a query. @throws {RequestError} with the message if Postgres cannot serve it now. */
export async function serveQuery<T>(message: string, query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (!isTimeout(error) && !isUnavailable(error) && !isForbidden(error)) throw error;
    throw unavailable(message, error);
  }
}
