import { parseYaml } from '../cluster/yaml.ts';

/** In place of an organization: all of them. */
const all = '*';

/** Which groups of people may read which organizations. */
export class OrganizationMap {
  readonly #organizationsOf: ReadonlyMap<string, readonly string[]>;

  private constructor(organizationsOf: ReadonlyMap<string, readonly string[]>) {
    this.#organizationsOf = organizationsOf;
  }

  /**
   * Reads a mapping in YAML, such as `{billing: acme, audit: [acme, globex], platform: '*'}`.
   * @throws an error that says what is wrong.
   */
  static parse(text: string): OrganizationMap {
    const value = parseYaml(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error('must be a mapping in YAML from groups to organizations, such as {billing: acme}');
    }
    const entries = Object.entries(value).map(([group, given]) => [group, organizationsIn(group, given)] as const);
    if (entries.length === 0) throw new Error('maps no group: nobody could read anything');
    return new OrganizationMap(new Map(entries));
  }

  /** Those of a person's groups that lead to an organization. */
  known(groups: readonly string[]): string[] {
    return groups.filter((group) => this.#organizationsOf.has(group));
  }

  /** The organizations of the groups, in order. `*` is all of `existing`. */
  organizationsOf(groups: readonly string[], existing: () => readonly string[]): string[] {
    const mapped = new Set(groups.flatMap((group) => this.#organizationsOf.get(group) ?? []));
    if (!mapped.delete(all)) return [...mapped].sort();
    return [...new Set([...mapped, ...existing()])].sort();
  }
}

function organizationsIn(group: string, given: unknown): string[] {
  const organizations: unknown[] = Array.isArray(given) ? given : [given];
  const areNames = organizations.every((name) => typeof name === 'string' && name.trim() !== '');
  if (organizations.length > 0 && areNames) return organizations as string[];
  throw new Error(`must give the group ${group} an organization, a list of them, or '*' in quotes`);
}
