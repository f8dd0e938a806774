/** The login pages themselves, to which nobody returns. */
const ofLogin = /^\/(?:login|logout|logout-everywhere|once)(?:\/|$)/;

/**
 * The address to show after a login: a page of this console, or else its first page. The result
 * always has the origin of `publicUrl`, so no link can lead elsewhere.
 */
export function returnAddress(publicUrl: URL, to: string | undefined): string {
  const base = publicUrl.pathname.replace(/\/$/, '');
  const first = `${publicUrl.origin}${base}/`;
  if (to === undefined || !isPath(to)) return first;
  const address = URL.parse(to, publicUrl.href);
  if (address?.origin !== publicUrl.origin) return first;
  const { pathname, search } = address;
  const inside = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
  // The path itself must not look like another host either.
  if (inside.startsWith('//') || ofLogin.test(inside)) return first;
  return `${publicUrl.origin}${base}${inside}${search}`;
}

/** True if it begins with one slash, without characters that browsers drop or read as a slash. */
function isPath(text: string): boolean {
  return text.length <= 2_000 && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes('\\');
}
