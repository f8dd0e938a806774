import { RequestError } from '../kit/errors/request-error.ts';
import { answerJson } from './answer-json.ts';
import { withNames } from './automation-names.ts';
import type { Endpoint } from './endpoint.ts';
import { readPath } from './path.ts';
import { readQuery } from './query.ts';
import type { ReadOptions } from './read-options.ts';

/** `GET /v1/executions/{automation_id}/{execution_id}/`: one execution. */
export function getExecution({ record }: ReadOptions): Endpoint {
  return {
    path: '/v1/executions/{automation_id}/{execution_id}/',
    answer: async (ctx) => {
      readQuery(ctx, {});
      const { automation_id, execution_id } = readPath(ctx, 'automation_id', 'execution_id');
      const execution = await record.getExecution(ctx.state.organization, automation_id, execution_id);
      if (execution === undefined) throw noExecution();
      const [named] = await withNames(record, ctx.state.organization, [execution]);
      answerJson(ctx, named);
    },
  };
}

/** The 404 of an execution that the organization does not have. */
export function noExecution(): RequestError {
  return new RequestError('not-found', 'There is no such execution.');
}
