import { readAutomation, type ReadAutomation } from '../expectation/read-automation.ts';
import type { ResourceManifest } from './manifest.ts';

/**
 * Remembers the checked spec of each automation: 10,000 take 2 s to check, and all are asked for at
 * each change of one.
 */
export class SpecCache {
  #checked = new Map<string, { generation: number | undefined; result: ReadAutomation }>();

  /** Checks the spec, unless it did this generation of the resource before. */
  read({ metadata: { uid = '', generation } = {}, spec }: ResourceManifest): ReadAutomation {
    const known = this.#checked.get(uid);
    if (known !== undefined && known.generation === generation) return known.result;
    const result = readAutomation(spec);
    this.#checked.set(uid, { generation, result });
    return result;
  }

  /** Forgets all other resources. */
  keep(manifests: readonly ResourceManifest[]): void {
    const uids = new Set(manifests.map(({ metadata }) => metadata?.uid));
    this.#checked = new Map([...this.#checked].filter(([uid]) => uids.has(uid)));
  }
}
