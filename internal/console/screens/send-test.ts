import { leadTo } from '../../login/page.ts';
import { channelOf } from '../path-ids.ts';
import type { Screen } from '../visit.ts';

/**
 * The action of the button "Send a test": puts a notification into the outbox for a controller to
 * send.
 */
export const sendTest: Screen = {
  path: '/channels/:namespace/:name/test',
  method: 'POST',
  action: 'tested',
  answer: async (visit, { site, sendTest: send }) => {
    const { ctx, organization } = visit;
    const test = await send(organization, channelOf(visit));
    leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, 'alerts', { test })}#channels-title`);
  },
};
