import type { Execution } from '../../record/execution.ts';
import type { ExecutionFilters } from '../../record/filters.ts';
import { eventHoldsText } from '../../record/match-events.ts';
import { holdsText } from '../../event/folded-text.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { sendLive } from '../live.ts';
import { readNames } from '../names.ts';
import { nothingHere } from '../path-ids.ts';
import type { Screen } from '../visit.ts';
import { readExecutionQuery } from './execution-filters.ts';
import { executionRow } from './execution-row.ts';

/**
 * Streams the rows of executions that change. A `row` belongs to the list with these filters; a
 * `change` only replaces a row that the list already has.
 */
export const liveExecutions: Screen = {
  path: '/executions/live',
  limit: 'streams',
  answer: async (visit, console) => {
    const { filters, choice } = await readExecutionQuery(visit, console);
    if (choice !== undefined) throw nothingHere();
    const nameOf = await readNames(visit, console);
    await sendLive(visit, console, ({ executions, events }) => {
      const row = { organization: visit.organization, now: Date.now() };
      return executions.map((execution) => {
        const own = events.filter(({ event }) => isOf(event, execution)).map(({ event }) => event);
        const name = matches(execution, own, filters) ? 'row' : 'change';
        return { name, markup: executionRow(execution, row, console.site, nameOf) };
      });
    });
  },
};

function isOf(event: StoredEvent, { automation, execution_id }: Execution): boolean {
  return event.execution_id === execution_id && event.automation.toLowerCase() === automation;
}

/** Matches as the query does, but looks for texts and errors in the new events only. */
function matches(execution: Execution, events: readonly StoredEvent[], filters: ExecutionFilters): boolean {
  const { state, automationId, executionId, from, to, anomaly, warning, errorId, q } = filters;
  const first = new Date(execution.first_event_at);
  return (
    (state === undefined || execution.state === state) &&
    (automationId === undefined || execution.automation === automationId) &&
    (executionId === undefined || execution.execution_id === executionId) &&
    (from === undefined || first >= from) &&
    (to === undefined || first < to) &&
    (anomaly === undefined || execution.anomalies.includes(anomaly)) &&
    (warning !== true || execution.counts.WARNING > 0) &&
    (errorId === undefined || events.some((event) => event.type_of_event === 'ERROR' && event.error_id === errorId)) &&
    (q === undefined || holdsText(execution.execution_id, q) || events.some((event) => eventHoldsText(event, q)))
  );
}
