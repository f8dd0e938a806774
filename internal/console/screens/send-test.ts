import { RequestError } from '../../kit/errors/request-error.ts';
import { leadTo } from '../../login/page.ts';
import { isFromThisSite } from '../../login/same-site.ts';
import { webhookOf } from '../path-ids.ts';
import type { Screen } from '../visit.ts';

/** The button "Send a test": puts a notification into the outbox, which a controller sends. */
export const sendTest: Screen = {
  path: '/webhooks/:namespace/:name/test',
  method: 'POST',
  action: 'tested',
  answer: async (visit, { site, sendTest: send }) => {
    const { ctx, organization } = visit;
    if (!isFromThisSite(ctx, site.publicUrl)) {
      throw new RequestError('malformed-request', 'This form must be sent from a page of this console.');
    }
    const test = await send(organization, webhookOf(visit));
    leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, 'alerts', { test })}`);
  },
};
