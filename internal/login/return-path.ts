/** The pages of the login itself: nobody returns to them. */
const ofLogin = /^\/(?:login|logout|logout-everywhere|once)(?:\/|$)/;

/**
 * The address that follows a login: a page of this console, else its first page. The result always
 * has the origin of `publicUrl`: nobody can make a link that leads elsewhere.
 */
export function returnAddress(publicUrl: URL, to: string | undefined): string {
  const base = publicUrl.pathname.replace(/\/$/, '');
  const first = `${publicUrl.origin}${base}/`;
  if (to === undefined || !isPath(to)) return first;
  const address = URL.parse(to, publicUrl.href);
  if (address?.origin !== publicUrl.origin) return first;
  const { pathname, search } = address;
  const inside = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
  // The path itself must not read as another host either.
  if (inside.startsWith('//') || ofLogin.test(inside)) return first;
  return `${publicUrl.origin}${base}${inside}${search}`;
}

/** One slash at the begin, and nothing that browsers drop or read as a slash. */
function isPath(text: string): boolean {
  return text.length <= 2_000 && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes('\\');
}
