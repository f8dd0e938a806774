import { unavailable } from '../kit/errors/request-error.ts';
import { ArchiveAway, ArchiveDamaged } from './archive/archive-errors.ts';
import { isTimeout, isUnavailable } from '../store/errors.ts';
import type { ConsoleMetrics } from './console-metrics.ts';
import { decorated, type Queries } from './queries.ts';
import { BudgetUsedUp } from './read-budget.ts';

/** Runs one query of an operation. */
type Serve = <T>(operation: keyof Queries, query: () => Promise<T>) => Promise<T>;

/**
 * The operations as readers get them: timed, and with Postgres errors as a `RequestError` that
 * tells readers to retry.
 */
export function serveRecord(record: Queries, metrics: ConsoleMetrics): Queries {
  const serve: Serve = async (operation, query) => {
    const stop = metrics.querySeconds.startTimer({ operation });
    try {
      return await query();
    } catch (error) {
      throw explained(error, metrics);
    } finally {
      stop();
    }
  };
  return {
    ...decorated(
      record,
      (name, operation) =>
        (...query) =>
          serve(name, async () => operation(...query)),
    ),
    exportEvents: (...query) => servePages(record.exportEvents(...query), serve),
  };
}

/** Each page is a query. */
async function* servePages<Page>(pages: AsyncIterable<Page>, serve: Serve): AsyncGenerator<Page> {
  const iterator = pages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const page = await serve('exportEvents', () => iterator.next());
      if (page.done === true) return;
      yield page.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Any other error is a defect, and stays as it is. */
function explained(error: unknown, metrics: ConsoleMetrics): unknown {
  if (isTimeout(error)) {
    metrics.reject('timeout');
    return unavailable('The query took too long: repeat it, or ask for a shorter time range.', error);
  }
  if (error instanceof BudgetUsedUp) {
    metrics.reject('timeout');
    return unavailable('Other long reads are under way: repeat it, or ask for a shorter time range.', error);
  }
  if (error instanceof ArchiveAway || error instanceof ArchiveDamaged) {
    metrics.reject('archive');
    const what = error instanceof ArchiveAway ? 'cannot be read now' : 'is not as it was written, so it is not shown';
    return unavailable(`The archive with the days before the newest ones ${what}.`, error);
  }
  if (!isUnavailable(error)) return error;
  metrics.reject('unavailable');
  return unavailable('The record cannot be read now.', error);
}
