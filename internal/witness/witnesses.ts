/** The checkpoint of a log, and proofs that it extends smaller ones. */
export interface Submission {
  readonly organization: string;
  readonly note: string;
  readonly prove: (smaller: number) => Promise<Buffer[]>;
}

/** Takes only checkpoints that extend the last one that it has of the same log. */
export interface Witness {
  readonly name: string;
  /**
   * Resolves with the line of its cosignature; with undefined if it keeps the checkpoint and signs
   * nothing. Rejects with a sentence when it is unavailable or refuses.
   */
  cosign(submission: Submission): Promise<string | undefined>;
}

/** The newest checkpoint of a log that a witness lacks. */
export interface Uncosigned extends Submission {
  readonly size: number;
  readonly cosignedBy: readonly string[];
}

/** Where checkpoints are. */
export interface CosignedLogs {
  /** The newest checkpoint of each log that one of these has not cosigned. */
  listUncosigned(witnesses: readonly string[]): Promise<Uncosigned[]>;
  /** Notes a witness of a checkpoint, and adds its line; unless a newer one replaced it. */
  addCosignature(log: Uncosigned, witness: string, line: string | undefined): Promise<void>;
}

/** Called when a witness has answered for a checkpoint; with `error` if it did not cosign. */
export type OnCosigned = (witness: string, error?: unknown) => void;

/** Time without requests to a witness after it failed, in ms. */
const pauseMs = 30_000;

/**
 * Sends checkpoints to the witnesses, and stores their cosignatures. An unavailable witness
 * gets the newest checkpoint later; nothing waits for it.
 */
export class Witnesses {
  readonly #logs: CosignedLogs;
  readonly #witnesses: readonly Witness[];
  readonly #onCosigned: OnCosigned;
  readonly #awayUntil = new Map<string, number>();

  constructor(logs: CosignedLogs, witnesses: readonly Witness[], onCosigned: OnCosigned) {
    this.#logs = logs;
    this.#witnesses = witnesses;
    this.#onCosigned = onCosigned;
  }

  /** Rejects only when the checkpoints cannot be read or changed. */
  async cosign(): Promise<void> {
    const now = performance.now();
    const present = this.#witnesses.filter(({ name }) => (this.#awayUntil.get(name) ?? 0) <= now);
    if (present.length === 0) return;
    const logs = await this.#logs.listUncosigned(present.map(({ name }) => name));
    await Promise.all(present.map((witness) => this.#cosignAll(witness, logs)));
  }

  /** One log after the other, until the witness fails. */
  async #cosignAll(witness: Witness, logs: readonly Uncosigned[]): Promise<void> {
    for (const log of logs) {
      if (log.cosignedBy.includes(witness.name)) continue;
      let line: string | undefined;
      try {
        line = await witness.cosign(log);
      } catch (error) {
        this.#awayUntil.set(witness.name, performance.now() + pauseMs);
        this.#onCosigned(witness.name, error);
        return;
      }
      await this.#logs.addCosignature(log, witness.name, line);
      this.#onCosigned(witness.name);
    }
  }
}
