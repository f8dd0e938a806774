import type { Context } from '../intake/http/page-route.ts';
import { unavailable } from '../kit/errors/request-error.ts';
import type { TokenSource } from '../cluster/tokens/token-source.ts';
import { bearerOf, type BearerLogin } from './bearer.ts';
import { groupsOf, hasTooManyGroups, nameOf, subjectOf, type Claims } from './claims.ts';
import { readSessionId } from './cookies.ts';
import { isRecent } from './id-token.ts';
import type { OrganizationMap, Rights } from './organization-map.ts';
import type { Identity, Sessions } from './sessions.ts';
import type { Viewer } from './viewer.ts';

/** What is known about people from a provider. */
export interface People {
  issuer: string;
  /** The claim with the groups. */
  groupsClaim: string;
  organizations: OrganizationMap;
}

export type Tokens = Pick<
  TokenSource,
  'authenticate' | 'authenticateDigest' | 'organizations' | 'tokensOf' | 'unready'
>;

export interface ViewersOptions {
  sessions: Sessions;
  tokens: Tokens;
  people?: People | undefined;
  /** Absent unless a proxy logs people in. */
  bearer?: BearerLogin | undefined;
  /** True if this process issues one-time links: only it accepts their sessions. */
  hasLinks: boolean;
  /** If false, everybody is only a reader. */
  manages: boolean;
  /** Delays the answers when many ids open no session. */
  limitUnknown: () => Promise<void>;
}

/** Why claims yield no identity. */
export type ClaimsFault = 'not-valid' | 'too-many-groups';

/** Finds who sends a request, and which organizations that person may see now. */
export class Viewers {
  readonly #options: ViewersOptions;

  constructor(options: ViewersOptions) {
    this.#options = options;
  }

  /**
   * The viewer of a request, from its id token or its session. A viewer may have no organization.
   * @throws {RequestError} if Postgres, the tokens or the provider's keys cannot be read now.
   */
  async find(ctx: Context): Promise<Viewer | undefined> {
    const identity = (await this.#ofBearer(ctx)) ?? (await this.ofSession(ctx));
    if (identity === undefined || typeof identity === 'string') return undefined;
    const rights = this.#rightsOf(identity);
    const { subject, name } = identity;
    if (rights === undefined) return undefined;
    const { organizations } = rights;
    return this.#options.manages ? { subject, name, ...rights } : { subject, name, organizations };
  }

  /**
   * The id token of a request whose person logged in within the last hour. Call `find` first: the
   * token is not checked again here.
   */
  async proofOf(ctx: Context): Promise<string | undefined> {
    const bearer = this.#options.bearer && bearerOf(ctx);
    if (bearer !== undefined) return isRecent(bearer) ? bearer : undefined;
    const id = readSessionId(ctx);
    return id === undefined ? undefined : this.#options.sessions.idTokenOf(id);
  }

  /** The identity of the session of a request. */
  async ofSession(ctx: Context): Promise<Identity | undefined> {
    const id = readSessionId(ctx);
    if (id === undefined) return undefined;
    const identity = await this.#options.sessions.find(id);
    if (identity === undefined) await this.#options.limitUnknown();
    return identity;
  }

  /** The identity of a person, from the claims of a valid id token. */
  identityOf(claims: Claims): Identity | ClaimsFault {
    const { people } = this.#options;
    const subject = this.subjectOf(claims);
    if (people === undefined || subject === undefined) return 'not-valid';
    const groups = groupsOf(claims, people.groupsClaim);
    if (groups === undefined && hasTooManyGroups(claims, people.groupsClaim)) return 'too-many-groups';
    const known = people.organizations.known(groups ?? []);
    return { subject, name: nameOf(claims), groups: known, tokenDigest: undefined, organization: undefined };
  }

  /** The subject of a person, from valid claims. */
  subjectOf(claims: Claims): string | undefined {
    return this.#options.people && subjectOf(this.#options.people.issuer, claims);
  }

  /** True if a proxy logged in a person whose groups were left out by the provider. */
  async hasTooManyGroups(ctx: Context): Promise<boolean> {
    return (await this.#ofBearer(ctx)) === 'too-many-groups';
  }

  async #ofBearer(ctx: Context): Promise<Identity | ClaimsFault | undefined> {
    const claims = await this.#options.bearer?.claimsOf(ctx);
    return claims && this.identityOf(claims);
  }

  /** Undefined if the session has ended with its token or its provider. */
  #rightsOf({ subject, groups, tokenDigest, organization }: Identity): Rights | undefined {
    const { tokens, people, hasLinks } = this.#options;
    if (organization !== undefined) {
      return hasLinks ? { ...readerOf(organization), owned: [organization] } : undefined;
    }
    // Tokens that are not loaded yet must not end sessions.
    if (tokens.unready() !== undefined) throw unavailable('Tokens are not loaded yet.');
    if (tokenDigest !== undefined) {
      const token = tokens.authenticateDigest(tokenDigest);
      return token.status === 'known' && token.scope === 'read' ? readerOf(token.organization) : undefined;
    }
    if (people === undefined || !subject.startsWith(`${people.issuer}#`)) return undefined;
    return people.organizations.rightsOf(groups, () => tokens.organizations());
  }
}

function readerOf(organization: string): Rights {
  return { organizations: [organization], owned: [], administers: false };
}
