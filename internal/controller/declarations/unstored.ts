import type { Acceptance } from './declare.ts';
import type { UnstoredResource } from './declarations.ts';

/** Remembers the resources whose declaration Postgres refused, until each changes. */
export class UnstoredResources {
  #known = new Map<string, { generation: number | undefined; message: string }>();

  /** @param acceptances of all resources, as they were read. */
  add(resources: readonly UnstoredResource[], acceptances: readonly Acceptance[]): void {
    const generations = new Map(acceptances.map((each) => [keyOf(each), each.manifest.metadata?.generation]));
    for (const { kind, namespace, name, message } of resources) {
      const key = keyOf({ kind, manifest: { metadata: { namespace, name } } });
      if (generations.has(key)) this.#known.set(key, { generation: generations.get(key), message });
    }
  }

  /** The same acceptances with these resources refused. Forgets resources that have changed. */
  applyTo(acceptances: readonly Acceptance[]): readonly Acceptance[] {
    if (this.#known.size === 0) return acceptances;
    const before = this.#known;
    this.#known = new Map();
    return acceptances.map((acceptance) => {
      const { kind, manifest } = acceptance;
      const known = before.get(keyOf(acceptance));
      if (known === undefined || known.generation !== manifest.metadata?.generation) return acceptance;
      this.#known.set(keyOf(acceptance), known);
      return { kind, manifest, accepted: false, reason: 'NotStored', message: known.message };
    });
  }
}

function keyOf({ kind, manifest }: Pick<Acceptance, 'kind' | 'manifest'>): string {
  return JSON.stringify([kind, manifest.metadata?.namespace, manifest.metadata?.name]);
}
