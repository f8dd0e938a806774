import { storable } from '../event/stored-text.ts';
import { plainText } from '../kit/telemetry/plain-text.ts';

/** The claims of a person, from an id token or the userinfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The groups of a person, from a claim given by name or by a path such as `realm_access.roles`;
 * undefined if the claim is absent.
 */
export function groupsOf(claims: Claims, claim: string): string[] | undefined {
  const value = valueOf(claims, claim);
  if (value === undefined || value === null) return undefined;
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === 'string');
}

/** A claim name may itself hold dots, as in a URL. */
function valueOf(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim.split('.').reduce<unknown>((value, name) => {
    const inside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return inside ? (value as Claims)[name] : undefined;
  }, claims);
}

/**
 * True if the provider left the groups out because there are too many: Microsoft Entra ID then
 * points to its own API (overage).
 */
export function hasTooManyGroups(claims: Claims, claim: string): boolean {
  const { _claim_names: elsewhere, hasgroups } = claims;
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, claim);
  return isElsewhere || hasgroups === true || hasgroups === 'true';
}

/** The display name of a person. */
export function nameOf({ name, preferred_username, email, sub }: Claims): string {
  const given = [name, preferred_username, email, sub].filter((text) => typeof text === 'string');
  const seen = given.map((text) => plainText(text).trim()).find((text) => text !== '');
  return storable(seen ?? '', 200);
}

/** The issuer and the subject of a person. Undefined for a subject that OpenID Connect forbids. */
export function subjectOf(issuer: string, { sub }: Claims): string | undefined {
  const isSubject = typeof sub === 'string' && /^[\x20-\x7e]{1,255}$/.test(sub);
  return isSubject ? `${issuer}#${sub}` : undefined;
}
