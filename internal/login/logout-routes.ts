import type { Context, PageRoute } from '../intake/http/page-route.ts';
import { clearCookie, readSessionId, sessionCookie } from './cookies.ts';
import type { NoteEntry } from './access-log.ts';
import type { Entrance } from './entrance.ts';
import { leadTo } from './page.ts';
import { isFromThisSite } from './same-site.ts';
import type { Identity, Sessions } from './sessions.ts';

export interface LogoutRoutesOptions {
  publicUrl: URL;
  sessions: Sessions;
  entrance: Entrance;
  /** Delays the answers when many ids open no session. */
  limitUnknown: () => Promise<void>;
  note: NoteEntry;
}

/** `/logout` ends the session; `/logout-everywhere` ends all sessions of that person or token. */
export function logoutRoutes(options: LogoutRoutesOptions): PageRoute[] {
  const { publicUrl, sessions, entrance, limitUnknown, note } = options;
  const leaving = (end: (id: string, identity: Identity) => Promise<unknown>) => async (ctx: Context) => {
    if (!isFromThisSite(ctx, publicUrl)) return entrance.show(ctx, 'other-site');
    const id = readSessionId(ctx);
    const identity = id === undefined ? undefined : await sessions.find(id);
    if (id !== undefined && identity === undefined) await limitUnknown();
    if (id !== undefined && identity !== undefined) {
      await end(id, identity);
      // Without an organization, the logout concerns all that the person may see.
      note(ctx, { ...identity, organization: identity.organization ?? '', action: 'logged out' });
    }
    clearCookie(ctx, sessionCookie);
    return leadTo(ctx, `${publicUrl.origin}${entrance.base}/login`);
  };
  return [
    { path: '/logout', methods: ['POST'], answer: leaving((id) => sessions.close(id)) },
    {
      path: '/logout-everywhere',
      methods: ['POST'],
      answer: leaving((_, { subject }) => sessions.closeAllOf(subject)),
    },
  ];
}
