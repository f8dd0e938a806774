import { html } from '../../kit/html/html.ts';
import type { StoredSince } from '../../record/stream.ts';
import { sendLive, type LiveMessage } from '../live.ts';
import { automationOf, executionIdOf } from '../path-ids.ts';
import type { Screen } from '../visit.ts';

const change = { name: 'change', markup: html`now` };

/** Has the page loaded again: something may have changed between the page and its stream. */
const opening = [change];

/** Says when anything was stored; the overview then loads its figures again. */
export const liveChanges: Screen = {
  path: '/live',
  limit: 'streams',
  answer: (visit, console) => sendLive(visit, console, () => [change]),
};

/** Says when an execution of an automation changes. */
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

/** Says when one execution changes. */
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
