import type { Context } from '../intake/http/page-route.ts';

/**
 * A browser sends a cookie with the prefix `__Host-` over HTTPS only and to this host only, and no
 * other host can set it.
 */
export const sessionCookie = '__Host-runledger-session';
export const loginCookie = '__Host-runledger-login';

/** Lax: a link from another site keeps the session, a form from another site does not. */
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** The value of a cookie; undefined if the request has none, or several. */
export function readCookie(ctx: Context, name: string): string | undefined {
  const values = ctx
    .get('Cookie')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** The id in the session cookie. Undefined if it cannot be one, so that Postgres is not asked. */
export function readSessionId(ctx: Context): string | undefined {
  const id = readCookie(ctx, sessionCookie);
  return id !== undefined && /^[\w-]{43}$/.test(id) ? id : undefined;
}

/** Sets a cookie. `maxAge` is in seconds; without it, the cookie ends with the browser session. */
export function setCookie(ctx: Context, name: string, value: string, maxAge?: number): void {
  const lifetime = maxAge === undefined ? '' : `; Max-Age=${maxAge}`;
  ctx.append('Set-Cookie', `${name}=${value}; ${attributes}${lifetime}`);
}

export function clearCookie(ctx: Context, name: string): void {
  setCookie(ctx, name, '', 0);
}
