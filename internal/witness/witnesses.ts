import type { HttpWitness } from './http-witness.ts';

/** The newest checkpoint of a log that lacks the cosignature of a witness. */
export interface Uncosigned {
  readonly organization: string;
  readonly size: number;
  readonly note: string;
  readonly cosignedBy: readonly string[];
  readonly prove: (smaller: number) => Promise<Buffer[]>;
}

/** Where checkpoints are. */
export interface CosignedLogs {
  /** The newest checkpoint of each log that one of these has not cosigned. */
  listUncosigned(witnesses: readonly string[]): Promise<Uncosigned[]>;
  /** Adds a line to a checkpoint, unless a newer one replaced it. */
  addCosignature(log: Uncosigned, witness: string, line: string): Promise<void>;
}

/** What became of a checkpoint at a witness: `error` if it was not cosigned. */
export type OnCosigned = (witness: string, error?: unknown) => void;

/** Time without requests to a witness after it failed, in ms. */
const pauseMs = 30_000;

/**
 * Sends checkpoints to the witnesses, and stores their cosignatures. An unavailable witness
 * gets the newest checkpoint later; nothing waits for it.
 */
export class Witnesses {
  readonly #logs: CosignedLogs;
  readonly #witnesses: readonly HttpWitness[];
  readonly #onCosigned: OnCosigned;
  readonly #awayUntil = new Map<string, number>();

  constructor(logs: CosignedLogs, witnesses: readonly HttpWitness[], onCosigned: OnCosigned) {
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
  async #cosignAll(witness: HttpWitness, logs: readonly Uncosigned[]): Promise<void> {
    for (const log of logs) {
      if (log.cosignedBy.includes(witness.name)) continue;
      const line = await witness.cosign(log).catch((error: unknown) => {
        this.#awayUntil.set(witness.name, performance.now() + pauseMs);
        this.#onCosigned(witness.name, error);
        return undefined;
      });
      if (line === undefined) return;
      await this.#logs.addCosignature(log, witness.name, line);
      this.#onCosigned(witness.name);
    }
  }
}
