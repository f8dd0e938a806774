import type { TreeHead } from './checkpoint.ts';
import { isConsistent, proveConsistency, type ReadNode } from './proofs.ts';

/** Remembers the last signed head of each log. */
export interface HeadMemory {
  /** Undefined if it remembers none. Rejects while it cannot be read: then nothing is signed. */
  recall(organization: string): Promise<TreeHead | undefined>;
  /** Resolves once the head is kept. `note` is its signed checkpoint. */
  keep(organization: string, head: TreeHead, note: string): Promise<void>;
}

/** The memory of a process, since an older database may replace the current one while it runs. */
export class SignedHeads implements HeadMemory {
  readonly #heads = new Map<string, TreeHead>();

  async recall(organization: string): Promise<TreeHead | undefined> {
    return this.#heads.get(organization);
  }

  async keep(organization: string, head: TreeHead): Promise<void> {
    this.#heads.set(organization, head);
  }
}

/** Why a head does not extend one that was signed before; undefined if it does. */
export async function contradiction(head: TreeHead, signed: TreeHead, read: ReadNode): Promise<string | undefined> {
  if (head.size < signed.size) return `it has ${head.size} leaves, and ${signed.size} were signed`;
  const isProven = signed.size > 0 && signed.size < head.size;
  const proof = isProven ? await proveConsistency(signed.size, head.size, read) : [];
  if (isConsistent(signed, head, proof)) return undefined;
  return `its first ${signed.size} leaves are not those that were signed`;
}
