import { RequestError } from '../kit/errors/request-error.ts';
import { answerJson } from './answer-json.ts';
import { nameExecution, withNames } from './automation-names.ts';
import { declaredIn } from './declared-in.ts';
import type { Endpoint } from './endpoint.ts';
import { readPath } from './path.ts';
import { readQuery } from './query.ts';
import type { ReadOptions } from './read-options.ts';
import { windowFilter, windowOf } from './window.ts';

/** Longest window whose series has a point for each hour, in ms; longer ones have days. */
const longestByHour = 3 * 24 * 3_600_000;

/**
 * `GET /v1/automations/{automation_id}/`: one automation with its last executions, and its figures
 * in the window by hour or day.
 */
export function getAutomation({ record }: ReadOptions): Endpoint {
  return {
    path: '/v1/automations/{automation_id}/',
    scopes: ['read', 'manage'],
    answer: async (ctx) => {
      const window = windowOf(readQuery(ctx, windowFilter));
      const { automation_id } = readPath(ctx, 'automation_id');
      const step = window.to.getTime() - window.from.getTime() > longestByHour ? 'day' : 'hour';
      const automation = await record.getAutomation(ctx.state.organization, automation_id, { ...window, step });
      if (automation === undefined) throw new RequestError('not-found', 'There is no such automation.');
      const declared = await declaredIn(record, ctx.state.organization, [automation_id]);
      const [named = { ...automation, automation_name: null }] = await withNames(record, ctx.state.organization, [
        automation,
      ]);
      const nameOne = <One extends object | null>(execution: One): One =>
        nameExecution(execution, named.automation_name);
      const executions = named.executions.map(nameOne);
      const shown = { ...named, last_execution: nameOne(named.last_execution), executions };
      answerJson(ctx, { ...shown, declaration: declared(automation_id) }, { changesAlways: true });
    },
  };
}
