import { readAutomation } from '../../expectation/read-automation.ts';
import type { AutomationManifest } from './declare.ts';
import { Budgets, bytesOf, declaredLimits } from './declared-limits.ts';
import { collectGarbage, manifestsPerCollection } from './garbage.ts';
import type { ResourceManifest } from './manifest.ts';
import { SharedTexts } from './shared-texts.ts';

/**
 * Remembers the automations of a cluster by their UID. Of each spec it keeps only what the check
 * returned: 10,000 take 2 s to check, and each full list has all of them again. Of a namespace it
 * keeps a bounded number of bytes.
 */
export class KnownAutomations {
  /** Of all resources. */
  readonly texts = new SharedTexts();
  readonly #budgets = new Budgets(declaredLimits.automations);
  #known = new Map<string, AutomationManifest>();
  #taken = 0;

  /**
   * Takes a version of a resource. It returns the same object for each version of a generation,
   * with the status of the last one: so a write of a status changes no declaration.
   */
  take({ spec, ...manifest }: ResourceManifest): AutomationManifest {
    this.#taken += 1;
    if (this.#taken % manifestsPerCollection === 0) collectGarbage();
    const { uid = '', namespace = '', generation } = manifest.metadata ?? {};
    const known = this.#known.get(uid);
    // One beyond the bound is read again: there may be room now.
    if (known?.manifest.metadata?.generation === generation && known?.read !== undefined) {
      Object.assign(known.manifest, manifest);
      return known;
    }
    const read = readAutomation(spec);
    const bytes = bytesOf(read);
    const automation = { manifest, bytes, read: this.#budgets.take(uid, namespace, bytes) ? read : undefined };
    this.#known.set(uid, automation);
    return automation;
  }

  /** Forgets all others. */
  keep(automations: readonly AutomationManifest[]): void {
    const before = this.#known;
    this.#known = new Map(automations.map((automation) => [automation.manifest.metadata?.uid ?? '', automation]));
    for (const uid of before.keys()) if (!this.#known.has(uid)) this.#budgets.free(uid);
  }
}
