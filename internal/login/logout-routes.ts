import type { Context, PageRoute } from '../api/page-route.ts';
import { clearCookie, readSessionId, sessionCookie } from './cookies.ts';
import type { Entrance } from './entrance.ts';
import { leadTo } from './page.ts';
import { isFromThisSite } from './same-site.ts';
import type { Sessions } from './sessions.ts';

export interface LogoutRoutesOptions {
  publicUrl: URL;
  sessions: Sessions;
  entrance: Entrance;
  /** Delays the answers to many ids that open no session. */
  limitUnknown: () => Promise<void>;
}

/** `/logout` ends the session; `/logout-everywhere` all sessions of the same person or token. */
export function logoutRoutes({ publicUrl, sessions, entrance, limitUnknown }: LogoutRoutesOptions): PageRoute[] {
  const leaving = (end: (id: string) => Promise<boolean>) => async (ctx: Context) => {
    if (!isFromThisSite(ctx, publicUrl)) return entrance.show(ctx, 'other-site');
    const id = readSessionId(ctx);
    if (id !== undefined && !(await end(id))) await limitUnknown();
    clearCookie(ctx, sessionCookie);
    return leadTo(ctx, `${publicUrl.origin}${entrance.base}/login`);
  };
  const everywhere = async (id: string): Promise<boolean> => {
    const identity = await sessions.find(id);
    if (identity !== undefined) await sessions.closeAllOf(identity.subject);
    return identity !== undefined;
  };
  return [
    { path: '/logout', methods: ['POST'], answer: leaving((id) => sessions.close(id)) },
    { path: '/logout-everywhere', methods: ['POST'], answer: leaving(everywhere) },
  ];
}
