import { readAutomation } from '../../expectation/read-automation.ts';
import type { AutomationManifest } from './declare.ts';
import { Budgets, bytesOf, declaredLimits } from './declared-limits.ts';
import { collectGarbage, manifestsPerCollection } from './garbage.ts';
import type { ResourceManifest } from './manifest.ts';
import { SharedTexts } from './shared-texts.ts';

/**
 * Remembers the checked specs of a cluster's automations by UID, because checking 10,000 of them
 * takes 2 s and each full list has all of them again. The bytes per namespace are bounded.
 */
export class KnownAutomations {
  /** The texts of all resources. */
  readonly texts = new SharedTexts();
  readonly #budgets = new Budgets(declaredLimits.automations);
  #known = new Map<string, AutomationManifest>();
  #taken = 0;

  /**
   * Adds a version of a resource. Returns the same object for all versions of a generation, with
   * the latest status, so that writing a status changes no declaration.
   */
  take({ spec, ...manifest }: ResourceManifest): AutomationManifest {
    this.#taken += 1;
    if (this.#taken % manifestsPerCollection === 0) collectGarbage();
    const { uid = '', namespace = '', generation } = manifest.metadata ?? {};
    const known = this.#known.get(uid);
    // A resource beyond the bound is read again: there may be room now.
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
