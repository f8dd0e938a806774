import type { Kubernetes } from './kubernetes.ts';

interface Rule {
  readonly resources: string[];
  readonly verbs: string[];
}

/** The rights of a release's accounts. */
export class Rights {
  readonly #kubernetes: Kubernetes;
  readonly #release: string;

  /** `release`: its name and its namespace. */
  constructor(kubernetes: Kubernetes, release: string) {
    this.#kubernetes = kubernetes;
    this.#release = release;
  }

  /** The rights of an account in a namespace, minus those that every account has. */
  async of(account: string, namespace: string): Promise<string[]> {
    const everybody = await this.#list('nobody', namespace);
    return (await this.#list(account, namespace)).filter((right) => !everybody.includes(right)).sort();
  }

  async #list(account: string, namespace: string): Promise<string[]> {
    const as = `--as=system:serviceaccount:${this.#release}:${account}`;
    const rows = await this.#kubernetes.kubectl('auth', 'can-i', '--list', '--no-headers', '-n', namespace, as);
    const words = (row: string): string =>
      row
        .replaceAll(/\s+\[\]/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim();
    return rows.trim().split('\n').map(words);
  }

  /** Takes a right of a component away; resolves with a function that gives it back. */
  async takeAway(component: string, verb: string, resource: string, namespace: string): Promise<() => Promise<string>> {
    const role = ['role', `${this.#release}.${this.#release}-${component}`, '--namespace', namespace];
    const { rules } = JSON.parse(await this.#kubernetes.kubectl('get', ...role, '-o', 'json')) as { rules: Rule[] };
    const patch = (kept: Rule[]): Promise<string> =>
      this.#kubernetes.kubectl('patch', ...role, '--type', 'merge', '--patch', JSON.stringify({ rules: kept }));
    const without = ({ resources, verbs }: Rule): string[] =>
      verbs.filter((other) => other !== verb || !resources.includes(resource));
    await patch(rules.map((rule) => ({ ...rule, verbs: without(rule) })).filter(({ verbs }) => verbs.length > 0));
    return () => patch(rules);
  }
}
