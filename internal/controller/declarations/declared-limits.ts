/**
 * Limits of what an organization, and each of its namespaces, may declare. The controller keeps all
 * of it in memory, reads it at each change, and makes a notification for each channel. `bytes` is
 * the size of the checked specs, as UTF-16.
 */
export const declaredLimits = { automations: 10_000, channels: 50, bytes: 8 * 1024 * 1024 };

/** The size of a checked spec. */
export function bytesOf(spec: unknown): number {
  return 2 * (JSON.stringify(spec) ?? '').length;
}

/** Counts what the members of each group use, up to a limit per group. */
export class Budgets {
  readonly #most: { readonly count: number; readonly bytes: number };
  readonly #members = new Map<string, { group: string; bytes: number }>();
  readonly #used = new Map<string, { count: number; bytes: number }>();

  constructor(count: number) {
    this.#most = { count, bytes: declaredLimits.bytes };
  }

  /** Adds or replaces the use of a member. Returns false if it does not fit. */
  take(member: string, group: string, bytes: number): boolean {
    this.free(member);
    const used = this.#used.get(group) ?? { count: 0, bytes: 0 };
    if (used.count >= this.#most.count || used.bytes + bytes > this.#most.bytes) return false;
    this.#used.set(group, { count: used.count + 1, bytes: used.bytes + bytes });
    this.#members.set(member, { group, bytes });
    return true;
  }

  free(member: string): void {
    const known = this.#members.get(member);
    if (known === undefined) return;
    this.#members.delete(member);
    const { count = 0, bytes = 0 } = this.#used.get(known.group) ?? {};
    this.#used.set(known.group, { count: count - 1, bytes: bytes - known.bytes });
  }
}
