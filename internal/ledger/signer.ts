import { signCheckpoint, type TreeHead } from './checkpoint.ts';
import type { SigningKey } from './keys.ts';
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
async function contradiction(head: TreeHead, signed: TreeHead, read: ReadNode): Promise<string | undefined> {
  if (head.size < signed.size) return `it has ${head.size} leaves, and ${signed.size} were signed`;
  const isProven = signed.size > 0 && signed.size < head.size;
  const proof = isProven ? await proveConsistency(signed.size, head.size, read) : [];
  if (isConsistent(signed, head, proof)) return undefined;
  return `its first ${signed.size} leaves are not those that were signed`;
}

/** A log that has grown: its head, and the last one that its database knows. */
export interface GrownLog {
  readonly organization: string;
  readonly head: TreeHead;
  readonly last: TreeHead | undefined;
  readonly read: ReadNode;
}

/** The signed checkpoint, or why there is none. */
export type Signature = { readonly note: string } | { readonly refused: string };

/**
 * Signs heads with each key. Refuses a head that does not extend the last one of the database and
 * of each memory, so that no two checkpoints contradict each other. The memories keep a head before
 * anybody sees its checkpoint.
 */
export class HeadSigner {
  readonly #keys: readonly SigningKey[];
  readonly #memories: readonly HeadMemory[];
  readonly #refusalOf: (organization: string) => string | undefined;

  /** @param refusalOf why a witness refuses a log; undefined if none does. */
  constructor(
    keys: readonly SigningKey[],
    memories: readonly HeadMemory[],
    refusalOf: (organization: string) => string | undefined = () => undefined,
  ) {
    this.#keys = keys;
    this.#memories = memories;
    this.#refusalOf = refusalOf;
  }

  async sign({ organization, head, last, read }: GrownLog): Promise<Signature> {
    const reason = this.#refusalOf(organization);
    if (reason !== undefined) return { refused: reason };
    const recalled = await Promise.all(this.#memories.map((memory) => memory.recall(organization)));
    for (const signed of distinct([last, ...recalled])) {
      const refused = await contradiction(head, signed, read);
      if (refused !== undefined) return { refused };
    }
    const note = signCheckpoint(organization, head, this.#keys);
    for (const memory of this.#memories) await memory.keep(organization, head, note);
    return { note };
  }
}

function distinct(heads: readonly (TreeHead | undefined)[]): TreeHead[] {
  const different = new Map(heads.flatMap((head) => (head === undefined ? [] : [[keyOf(head), head] as const])));
  return [...different.values()];
}

function keyOf({ size, root }: TreeHead): string {
  return `${size} ${root.toString('base64')}`;
}
