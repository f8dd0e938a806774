import { signCheckpoint, type TreeHead } from './checkpoint.ts';
import type { SigningKey } from './keys.ts';
import { contradiction, type HeadMemory } from './memory.ts';
import type { ReadNode } from './proofs.ts';

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
