import { isOrganization } from '../event/stored-text.ts';
import { isObject, parseYaml } from '../cluster/yaml.ts';

/** Stands for all organizations. */
const all = '*';

/** What a group may do: a reader reads an organization, an owner also manages it. */
interface Grant {
  organization: string;
  role: 'reader' | 'owner';
}

/** What a person may do. */
export interface Rights {
  /** The organizations that the person may see, sorted. */
  organizations: readonly string[];
  /** Those of them that the person owns. */
  owned: readonly string[];
  /** True for an owner of all organizations, who may create new ones. */
  administers: boolean;
}

/** Which groups of people may read or own which organizations. */
export class OrganizationMap {
  readonly #grantsOf: ReadonlyMap<string, readonly Grant[]>;

  private constructor(grantsOf: ReadonlyMap<string, readonly Grant[]>) {
    this.#grantsOf = grantsOf;
  }

  /**
   * Parses a mapping in YAML, such as `{billing: acme, audit: [acme, globex], platform: '*'}`.
   * `{organization: acme, role: owner}` in place of a name makes owners.
   * @throws an error that says what is wrong.
   */
  static parse(text: string): OrganizationMap {
    const value = parseYaml(text);
    if (!isObject(value)) {
      throw new Error('must be a mapping in YAML from groups to organizations, such as {billing: acme}');
    }
    const entries = Object.entries(value).map(([group, given]) => [group, grantsIn(group, given)] as const);
    if (entries.length === 0) throw new Error('maps no group: nobody could read anything');
    return new OrganizationMap(new Map(entries));
  }

  /** Those of the groups that lead to an organization. */
  known(groups: readonly string[]): string[] {
    return groups.filter((group) => this.#grantsOf.has(group));
  }

  /** What the groups may do; `*` stands for all of `existing`. */
  rightsOf(groups: readonly string[], existing: () => readonly string[]): Rights {
    const grants = groups.flatMap((group) => this.#grantsOf.get(group) ?? []);
    const owning = grants.filter(({ role }) => role === 'owner');
    const namesOf = (some: readonly Grant[]): string[] => {
      const names = new Set(some.map(({ organization }) => organization));
      return names.delete(all) ? [...new Set([...names, ...existing()])].sort() : [...names].sort();
    };
    const administers = owning.some(({ organization }) => organization === all);
    return { organizations: namesOf(grants), owned: namesOf(owning), administers };
  }

  /** True if one of the groups owns the organization. */
  isOwner(groups: readonly string[], organization: string): boolean {
    const { owned, administers } = this.rightsOf(groups, () => []);
    return owned.includes(organization) || (administers && isOrganization(organization));
  }
}

function grantsIn(group: string, given: unknown): Grant[] {
  const grants = (Array.isArray(given) ? given : [given]).map(grantOf);
  const valid = grants.filter((grant) => grant !== undefined);
  if (valid.length > 0 && valid.length === grants.length) return valid;
  throw new Error(
    `must give the group ${group} an organization, a list of them, or '*' in quotes; {organization: …, role: owner} for owners`,
  );
}

function grantOf(given: unknown): Grant | undefined {
  if (!isObject(given)) return isName(given) ? { organization: given, role: 'reader' } : undefined;
  const { organization, role, ...others } = given;
  const isRole = role === 'owner' || role === 'reader';
  return isRole && isName(organization) && Object.keys(others).length === 0 ? { organization, role } : undefined;
}

function isName(given: unknown): given is string {
  return typeof given === 'string' && given.trim() !== '';
}
