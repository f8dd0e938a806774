/** Browsers keep to HTTPS for so long after an answer, in seconds. */
const year = 31_536_000;

/**
 * The headers of every answer but the 301 of plain HTTP. No body is read as another type than it
 * has. Browsers use HTTPS only from then on, also where a proxy ends TLS, since this service answers
 * plain HTTP with nothing else. Not for `localhost`: that would hold for every port of a developer's
 * machine.
 */
export function answerHeaders({ hostname }: URL): Readonly<Record<string, string>> {
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  return {
    'X-Content-Type-Options': 'nosniff',
    ...(!isLocal && { 'Strict-Transport-Security': `max-age=${year}` }),
  };
}
