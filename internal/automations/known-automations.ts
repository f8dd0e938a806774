import { readAutomation } from '../expectation/read-automation.ts';
import type { AutomationManifest } from './declare.ts';
import { collectGarbage, manifestsPerCollection } from './garbage.ts';
import type { ResourceManifest } from './manifest.ts';
import { SharedTexts } from './shared-texts.ts';

/**
 * Remembers the automations of a cluster by their UID. Of each spec it keeps only what the check
 * returned: 10,000 take 2 s to check, and each full list has all of them again.
 */
export class KnownAutomations {
  /** Of all resources. */
  readonly texts = new SharedTexts();
  #known = new Map<string, AutomationManifest>();
  #taken = 0;

  /**
   * Takes a version of a resource. It returns the same object for each version of a generation,
   * with the status of the last one: so a write of a status changes no declaration.
   */
  take({ spec, ...manifest }: ResourceManifest): AutomationManifest {
    this.#taken += 1;
    if (this.#taken % manifestsPerCollection === 0) collectGarbage();
    const { uid = '', generation } = manifest.metadata ?? {};
    const known = this.#known.get(uid);
    if (known !== undefined && known.manifest.metadata?.generation === generation) {
      Object.assign(known.manifest, manifest);
      return known;
    }
    const automation = { manifest, read: readAutomation(spec) };
    this.#known.set(uid, automation);
    return automation;
  }

  /** Forgets all others. */
  keep(automations: readonly AutomationManifest[]): void {
    this.#known = new Map(automations.map((automation) => [automation.manifest.metadata?.uid ?? '', automation]));
  }
}
