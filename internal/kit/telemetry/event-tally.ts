/** Events of one kind and organization. */
interface Series {
  readonly labels: { readonly kind: string; readonly organization: string };
  count: number;
}

/** Counts events by organization and kind as plain numbers, formatted at a scrape. */
export class EventTally {
  readonly #organizations = new Map<string, Series[]>();

  /** Adds one event. The caller bounds the values of the label `organization`. */
  add(organization: string, kind: string): void {
    const all = this.#organizations.get(organization) ?? [];
    if (all.length === 0) this.#organizations.set(organization, all);
    const known = all.find(({ labels }) => labels.kind === kind);
    if (known === undefined) all.push({ labels: { kind, organization }, count: 1 });
    else known.count += 1;
  }

  /** The counts so far, for kinds that occurred. */
  series(): Iterable<Series> {
    return [...this.#organizations.values()].flat();
  }
}
