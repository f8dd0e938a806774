import { leadTo } from '../../login/page.ts';
import { shownChannel } from '../parts/history.ts';
import { channelOf } from '../path-ids.ts';
import type { Screen } from '../visit.ts';

/**
 * The action of the button "Send a test": puts a notification into the outbox for a controller to
 * send.
 */
export const sendTest: Screen = {
  path: '/channels/:namespace/:name/test',
  method: 'POST',
  answer: async (visit, { site, sendTest: send }) => {
    const { ctx, organization } = visit;
    const channel = channelOf(visit);
    await visit.note('tested', `channel ${shownChannel(`${channel.namespace}/${channel.name}`)}`);
    const test = await send(organization, channel);
    leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, 'alerts', { test })}#channels-title`);
  },
};
