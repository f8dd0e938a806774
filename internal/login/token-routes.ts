import type { Context, PageRoute } from '../intake/http/page-route.ts';
import { collectBody } from '../intake/http/plain-koa.ts';
import { unavailable } from '../kit/errors/request-error.ts';
import type { LoginMetrics } from './login-metrics.ts';
import { digestOf } from '../cluster/tokens/token-entry.ts';
import { refusedEntry, type NoteEntry } from './access-log.ts';
import type { Entrance } from './entrance.ts';
import { leadTo } from './page.ts';
import { returnAddress } from './return-path.ts';
import { isFromThisSite } from './same-site.ts';
import type { Identity } from './sessions.ts';
import type { Tokens, Viewers } from './viewers.ts';

export interface TokenRoutesOptions {
  publicUrl: URL;
  entrance: Entrance;
  viewers: Viewers;
  tokens: Tokens;
  /** Delays the answers when many tokens are wrong. */
  limitWrongTokens: () => Promise<void>;
  metrics: LoginMetrics;
  note: NoteEntry;
}

/** Larger than any form of the login, in bytes. */
const longestForm = 16_384;

/** `/login`: the page, and the form for a read token. */
export function tokenRoutes(options: TokenRoutesOptions): PageRoute[] {
  const readBody = collectBody(longestForm, ['application/x-www-form-urlencoded']);
  return [
    { path: '/login', methods: ['GET', 'HEAD'], answer: (ctx) => showLogin(ctx, options) },
    {
      path: '/login',
      methods: ['POST'],
      answer: async (ctx) => {
        if (!isFromThisSite(ctx, options.publicUrl)) return options.entrance.show(ctx, 'other-site');
        const form = new URLSearchParams((await readBody(ctx)).toString());
        return logIn(ctx, form.get('token')?.trim() ?? '', form.get('to') ?? undefined, options);
      },
    },
  ];
}

/** A person who is already logged in does not see the form. */
async function showLogin(ctx: Context, { publicUrl, entrance, viewers }: TokenRoutesOptions): Promise<void> {
  const to = new URLSearchParams(ctx.querystring).get('to') ?? undefined;
  const viewer = await viewers.find(ctx);
  if (viewer !== undefined && viewer.organizations.length > 0) leadTo(ctx, returnAddress(publicUrl, to));
  else if (viewer !== undefined) entrance.show(ctx, 'no-organization', { who: viewer.name });
  else if (await viewers.hasTooManyGroups(ctx)) entrance.show(ctx, 'too-many-groups');
  else entrance.showForm(ctx, to);
}

async function logIn(ctx: Context, token: string, to: string | undefined, options: TokenRoutesOptions): Promise<void> {
  const { entrance, tokens, metrics, limitWrongTokens, note } = options;
  const refuse = (status: number, problem: string): void => {
    metrics.count('token', 'refused');
    note(ctx, refusedEntry);
    entrance.showForm(ctx, to, { status, problem });
  };
  const owner = tokens.authenticate(token);
  if (owner.status === 'not-loaded') throw unavailable('Tokens are not loaded yet.');
  if (owner.status === 'unknown') {
    await limitWrongTokens();
    return refuse(403, 'This token is not valid: it is mistyped, or it was revoked.');
  }
  if (owner.scope !== 'read')
    return refuse(403, `This is a ${owner.scope} token. Use a read token: it begins with rlr_.`);
  const identity: Identity = {
    subject: `token:${owner.tokenId}`,
    name: `read token ${owner.tokenId}`,
    groups: [],
    tokenDigest: digestOf(token),
    organization: undefined,
  };
  return entrance.enter(ctx, 'token', { identity }, to);
}
