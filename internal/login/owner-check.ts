import { groupsOf, nameOf } from './claims.ts';
import { IdTokens } from './id-token.ts';
import type { OidcOptions } from './login.ts';
import type { OneTimeLink } from './one-time-link.ts';
import { Provider } from './provider.ts';

/** The proven owner of an organization, or one sentence on why there is no proof. */
export type OwnerProof = { owner: string } | { refused: string };

/**
 * Checks that an id token of the last hour proves an owner of an organization. It uses only the
 * keys of the provider and the map, and trusts no console.
 * @throws {RequestError} if the provider's keys cannot be read.
 */
export function createOwnerCheck(oidc: OidcOptions | undefined, link?: OneTimeLink) {
  const provider = oidc && new Provider({ ...oidc, clientId: oidc.clientId ?? oidc.proxyAudience ?? '' });
  const audiences = [oidc?.clientId, oidc?.proxyAudience].filter((audience) => audience !== undefined);
  const idTokens = provider && new IdTokens(provider, audiences);
  return async (idToken: string, organization: string): Promise<OwnerProof> => {
    if (link !== undefined && (await link.proves(idToken, organization))) {
      return { owner: `one-time link of ${organization}` };
    }
    if (oidc === undefined || idTokens === undefined)
      return { refused: 'The controller has no provider: set OIDC_ISSUER.' };
    const claims = await idTokens.recent(idToken);
    if ('refused' in claims)
      return { refused: `The id token is not valid: ${String(claims['refused'])}. Log in again.` };
    const groups = groupsOf(claims, oidc.groupsClaim);
    if (groups === undefined) {
      return { refused: `The id token has no claim ${oidc.groupsClaim}: the provider must put the groups into it.` };
    }
    if (oidc.organizations.isOwner(groups, organization)) return { owner: nameOf(claims) };
    return { refused: `None of the groups in the id token owns ${organization}.` };
  };
}
