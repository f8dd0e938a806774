import type { Claims } from './claims.ts';
import { clockDifference } from './provider.ts';

/**
 * True unless the token names another client as the one which it was issued to. One for several
 * audiences must name this client (OpenID Connect Core, section 3.1.3.7).
 */
export function isFor(clientId: string, { aud, azp }: Claims): boolean {
  const severalAudiences = Array.isArray(aud) && aud.length > 1;
  return azp === undefined ? !severalAudiences : azp === clientId;
}

/** True for a token that was issued later than now, beyond the difference of the clocks. */
export function isFromTheFuture({ iat }: Claims, now = Date.now()): boolean {
  return Number(iat) > now / 1_000 + clockDifference;
}

/**
 * An access token of the same issuer and audience is no id token: its header says `at+jwt`
 * (RFC 9068), or its claims `Bearer` (Keycloak).
 */
export function isIdToken(header: { typ?: string }, claims: Claims): boolean {
  return ['JWT', undefined].includes(header.typ) && ['ID', undefined].includes(claims['typ'] as string | undefined);
}
