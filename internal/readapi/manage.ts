import { RequestError } from '../kit/errors/request-error.ts';
import type { Endpoint } from './endpoint.ts';
import { applyAutomations, putAutomation, removeAutomation } from './manage-automations.ts';
import { doAct, listMutes } from './manage-acts.ts';
import type { ManageOptions } from './manage-request.ts';
import { issueToken, listTokens, revokeToken, rotateToken, showToken } from './manage-tokens.ts';

/** What a token of scope `manage` may do. */
const endpoints = [
  applyAutomations,
  putAutomation,
  removeAutomation,
  listTokens,
  showToken,
  issueToken,
  rotateToken,
  revokeToken,
  listMutes,
  doAct,
];

/** The endpoints for a token of scope `manage`. */
export function manageEndpoints(options: ManageOptions): Endpoint[] {
  return endpoints.map((make) => {
    const endpoint = make(options);
    return {
      ...endpoint,
      scopes: ['manage'],
      answer: (ctx, next) => {
        if (options.manages) return endpoint.answer(ctx, next);
        throw new RequestError('insufficient-scope', 'Nothing can be changed here: CONSOLE_MANAGE is off.');
      },
    };
  });
}
