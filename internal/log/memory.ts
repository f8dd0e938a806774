import type { TreeHead } from './checkpoint.ts';

/**
 * Remembers the last head of each log that this process signed. A database that was restored from
 * an older backup is no reason to sign again what was signed before.
 */
export class SignedHeads {
  readonly #heads = new Map<string, TreeHead>();

  /** False if the head is smaller than the last one, or of its size with another root. */
  admits(organization: string, head: TreeHead): boolean {
    const last = this.#heads.get(organization);
    if (last === undefined || head.size > last.size) return true;
    return head.size === last.size && head.root.equals(last.root);
  }

  remember(organization: string, head: TreeHead): void {
    this.#heads.set(organization, head);
  }
}
