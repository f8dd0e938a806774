/** Events of one kind and organization. */
interface Series {
  readonly labels: { readonly kind: string; readonly organization: string };
  count: number;
}

/**
 * Counts events by organization and kind in plain numbers, which a metric shows when it is scraped.
 */
export class EventTally {
  readonly #organizations = new Map<string, Series[]>();

  /**
   * One more event. `organization` is the value of the label: who gives it bounds how many there
   * are.
   */
  add(organization: string, kind: string): void {
    const all = this.#organizations.get(organization) ?? [];
    if (all.length === 0) this.#organizations.set(organization, all);
    const known = all.find(({ labels }) => labels.kind === kind);
    if (known === undefined) all.push({ labels: { kind, organization }, count: 1 });
    else known.count += 1;
  }

  /** What was counted so far: only kinds that came. */
  series(): Iterable<Series> {
    return [...this.#organizations.values()].flat();
  }
}
