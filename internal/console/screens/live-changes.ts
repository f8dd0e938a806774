import { html } from '../../kit/html/html.ts';
import type { StoredSince } from '../../record/stream.ts';
import { sendLive, type LiveMessage } from '../live.ts';
import { automationOf, executionIdOf } from '../path-ids.ts';
import type { Screen } from '../visit.ts';

const change = { name: 'change', markup: html`now` };

/** Reloads the page: something may have changed between the page and its stream. */
const opening = [change];

/** Signals each time events were stored; the overview then reloads its figures. */
export const liveChanges: Screen = {
  path: '/live',
  limit: 'streams',
  answer: (visit, console) => sendLive(visit, console, () => [change]),
};

/** Signals each change of the executions of an automation. */
export const liveAutomation: Screen = {
  path: '/automations/:automation/live',
  limit: 'streams',
  answer: async (visit, console) => {
    const id = automationOf(visit);
    const changes = ({ executions }: StoredSince): LiveMessage[] =>
      executions.some(({ automation }) => automation === id) ? [change] : [];
    await sendLive(visit, console, changes, opening);
  },
};

/** Signals each change of one execution. */
export const liveExecution: Screen = {
  path: '/executions/:automation/:execution/live',
  limit: 'streams',
  answer: async (visit, console) => {
    const [id, executionId] = [automationOf(visit), executionIdOf(visit)];
    const changes = ({ executions }: StoredSince): LiveMessage[] => {
      const changed = executions.some(
        ({ automation, execution_id }) => automation === id && execution_id === executionId,
      );
      return changed ? [change] : [];
    };
    await sendLive(visit, console, changes, opening);
  },
};
