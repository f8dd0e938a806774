import type { Context } from '../intake/http/page-route.ts';

/**
 * True if a page of this console sent the form; otherwise another site could log a person out or in
 * as somebody else. Browsers send one of these two headers, which scripts cannot set.
 */
export function isFromThisSite(ctx: Context, publicUrl: URL): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin';
  return ctx.get('Origin') === publicUrl.origin;
}
