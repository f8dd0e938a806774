import { unavailable } from '../kit/errors/request-error.ts';
import { isTimeout, isUnavailable } from '../store/errors.ts';
import type { ConsoleMetrics } from '../kit/telemetry/console-metrics.ts';
import type { Queries } from './queries.ts';
import { BudgetUsedUp } from './read-budget.ts';

/** Runs one query of an operation. */
type Serve = <T>(operation: keyof Queries, query: () => Promise<T>) => Promise<T>;

/**
 * The operations as readers get them: timed, and with errors of Postgres as a `RequestError` that
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
    listAutomations: (...query) => serve('listAutomations', () => record.listAutomations(...query)),
    getAutomation: (...query) => serve('getAutomation', () => record.getAutomation(...query)),
    newestRuns: (...query) => serve('newestRuns', () => record.newestRuns(...query)),
    countExecutions: (...query) => serve('countExecutions', () => record.countExecutions(...query)),
    countRunning: (...query) => serve('countRunning', () => record.countRunning(...query)),
    countErrors: (...query) => serve('countErrors', () => record.countErrors(...query)),
    listExecutions: (...query) => serve('listExecutions', () => record.listExecutions(...query)),
    getExecution: (...query) => serve('getExecution', () => record.getExecution(...query)),
    aroundExecution: (...query) => serve('aroundExecution', () => record.aroundExecution(...query)),
    listEvents: (...query) => serve('listEvents', () => record.listEvents(...query)),
    listErrorTimes: (...query) => serve('listErrorTimes', () => record.listErrorTimes(...query)),
    listTimeline: (...query) => serve('listTimeline', () => record.listTimeline(...query)),
    listErrors: (...query) => serve('listErrors', () => record.listErrors(...query)),
    exportEvents: (...query) => servePages(record.exportEvents(...query), serve),
    pollStored: (...query) => serve('pollStored', () => record.pollStored(...query)),
    listDeclarations: (...query) => serve('listDeclarations', () => record.listDeclarations(...query)),
    namesOf: (...query) => serve('namesOf', () => record.namesOf(...query)),
    findByName: (...query) => serve('findByName', () => record.findByName(...query)),
    listAlerts: (...query) => serve('listAlerts', () => record.listAlerts(...query)),
    listDeliveries: (...query) => serve('listDeliveries', () => record.listDeliveries(...query)),
    listWebhooks: (...query) => serve('listWebhooks', () => record.listWebhooks(...query)),
    getCheckpoint: (...query) => serve('getCheckpoint', () => record.getCheckpoint(...query)),
    getSignedCheckpoint: (...query) => serve('getSignedCheckpoint', () => record.getSignedCheckpoint(...query)),
    listActs: (...query) => serve('listActs', () => record.listActs(...query)),
    getTile: (...query) => serve('getTile', () => record.getTile(...query)),
    getProof: (...query) => serve('getProof', () => record.getProof(...query)),
    getSeal: (...query) => serve('getSeal', () => record.getSeal(...query)),
    getBlindness: (...query) => serve('getBlindness', () => record.getBlindness(...query)),
    replicaLagMs: () => record.replicaLagMs(),
    usesReaderRole: () => record.usesReaderRole(),
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
  if (!isUnavailable(error)) return error;
  metrics.reject('unavailable');
  return unavailable('The record cannot be read now.', error);
}
