import type { PageRoute } from '../intake/http/page-route.ts';
import type { LoginMetrics } from './login-metrics.ts';
import { refusedEntry, type NoteEntry } from './access-log.ts';
import type { Entrance } from './entrance.ts';
import type { OneTimeLink } from './one-time-link.ts';
import { leadTo } from './page.ts';
import { returnAddress } from './return-path.ts';
import type { Viewers } from './viewers.ts';

export interface LinkRouteOptions {
  publicUrl: URL;
  link: OneTimeLink;
  entrance: Entrance;
  viewers: Viewers;
  limitWrongTokens: () => Promise<void>;
  metrics: LoginMetrics;
  note: NoteEntry;
}

/** `/once/<secret>` logs in to the organization of the link. It works once. */
export function linkRoute({ publicUrl, link, entrance, viewers, ...options }: LinkRouteOptions): PageRoute {
  return {
    path: '/once/:secret',
    methods: ['GET'],
    answer: async (ctx) => {
      const { organization } = link;
      if (link.use(ctx.path.split('/')[2] ?? '')) {
        const name = `one-time link of ${organization}`;
        const identity = { subject: link.subject, name, groups: [], tokenDigest: undefined, organization };
        const idToken = await link.assertion();
        await entrance.enter(ctx, 'link', { identity, idToken }, undefined).catch((error: unknown) => {
          link.giveBack();
          throw error;
        });
        return;
      }
      // The person who used the link may open it again.
      const viewer = await viewers.find(ctx);
      if (viewer !== undefined && viewer.organizations.length > 0) {
        leadTo(ctx, returnAddress(publicUrl, undefined));
        return;
      }
      await options.limitWrongTokens();
      options.metrics.count('link', 'refused');
      options.note(ctx, refusedEntry);
      entrance.show(ctx, 'link-used');
    },
  };
}
