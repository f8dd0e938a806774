/** How long browsers keep to HTTPS after an answer, in seconds. */
const year = 31_536_000;

/**
 * The headers of every answer but the 301 of plain HTTP. Browsers read no body as another type than
 * it has, and use HTTPS only from then on. That is right where a proxy ends TLS too, since plain
 * HTTP gets nothing but the 301. `localhost` is left out: it would bind every port of a developer's
 * machine.
 */
export function answerHeaders({ hostname }: URL): Readonly<Record<string, string>> {
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return {
    'X-Content-Type-Options': 'nosniff',
    ...(!isLocal && { 'Strict-Transport-Security': `max-age=${year}` }),
  };
}
