import type { Context, PageRoute } from '../api/page-route.ts';
import { clearCookie, readCookie, sessionCookie } from './cookies.ts';
import type { Entrance } from './entrance.ts';
import { leadTo } from './page.ts';
import { isFromThisSite } from './same-site.ts';
import type { Sessions } from './sessions.ts';

export interface LogoutRoutesOptions {
  publicUrl: URL;
  sessions: Sessions;
  entrance: Entrance;
}

/** `/logout` ends the session; `/logout-everywhere` all sessions of the same person or token. */
export function logoutRoutes({ publicUrl, sessions, entrance }: LogoutRoutesOptions): PageRoute[] {
  const leaving = (end: (id: string) => Promise<void>) => async (ctx: Context) => {
    if (!isFromThisSite(ctx, publicUrl)) return entrance.show(ctx, 'other-site');
    const id = readCookie(ctx, sessionCookie);
    if (id !== undefined && id !== '') await end(id);
    clearCookie(ctx, sessionCookie);
    return leadTo(ctx, `${publicUrl.origin}${entrance.base}/login`);
  };
  const everywhere = async (id: string): Promise<void> => {
    const identity = await sessions.find(id);
    if (identity !== undefined) await sessions.closeAllOf(identity.subject);
  };
  return [
    { path: '/logout', methods: ['POST'], answer: leaving((id) => sessions.close(id)) },
    { path: '/logout-everywhere', methods: ['POST'], answer: leaving(everywhere) },
  ];
}
