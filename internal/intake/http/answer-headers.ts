/** How long browsers keep to HTTPS after an answer, in seconds. */
const year = 31_536_000;

/**
 * The headers of every answer except the 301 of plain HTTP. Browsers then do not guess content
 * types, and use only HTTPS. That also holds behind a proxy that ends TLS, since plain HTTP gets
 * nothing but the 301. `localhost` is exempt: it would bind every port of a developer's machine.
 */
export function answerHeaders({ hostname }: URL): Readonly<Record<string, string>> {
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return {
    'X-Content-Type-Options': 'nosniff',
    ...(!isLocal && { 'Strict-Transport-Security': `max-age=${year}` }),
  };
}
