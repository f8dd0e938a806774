import { UnknownLog, WitnessRefusal } from './refusal.ts';

/** The checkpoint of a log, and proofs that it extends smaller ones. */
export interface Submission {
  readonly organization: string;
  readonly note: string;
  readonly prove: (smaller: number) => Promise<Buffer[]>;
}

/** Accepts only checkpoints that extend the last one that it has of the same log. */
export interface Witness {
  readonly name: string;
  /**
   * Resolves with the line of its cosignature; with undefined if it keeps the checkpoint and signs
   * nothing. Rejects with {@link WitnessRefusal}, with {@link UnknownLog}, or with a sentence when
   * it is unavailable.
   */
  cosign(submission: Submission): Promise<string | undefined>;
}

/** The newest checkpoint of a log that a witness lacks. */
export interface Uncosigned extends Submission {
  readonly size: number;
  readonly cosignedBy: readonly string[];
}

/** The store of checkpoints. */
export interface CosignedLogs {
  /** The newest checkpoint of each log, or of one, that a witness among these has not cosigned. */
  listUncosigned(witnesses: readonly string[], organization?: string): Promise<Uncosigned[]>;
  /** Notes a witness of a checkpoint and adds its line, unless a newer checkpoint replaced it. */
  addCosignature(log: Uncosigned, witness: string, line: string | undefined): Promise<void>;
}

/** A witness's answer for a checkpoint; has `error` if it did not cosign. */
export interface Answered {
  readonly witness: string;
  readonly organization: string;
  readonly error?: unknown;
}

/** How long a witness, or one log at a witness, is left alone after a failure, in ms. */
const pauseMs = 30_000;

/** Logs that a witness is asked about at once. */
const atOnce = 25;

/**
 * Sends checkpoints to the witnesses and stores their cosignatures. An unavailable witness gets the
 * newest checkpoint later and delays nothing, and a log that it does not cosign delays no other
 * log. A refusal is evidence: this process signs no further checkpoint of that log.
 */
export class Witnesses {
  readonly #logs: CosignedLogs;
  readonly #witnesses: readonly Witness[];
  readonly #onAnswered: (answered: Answered) => void;
  /** Until when a witness, or a witness for one log, gets no requests. */
  readonly #pausedUntil = new Map<string, number>();
  /** Logs for which a witness has answered, by {@link keyOf}. */
  readonly #asked = new Set<string>();
  readonly #refusals = new Map<string, string>();

  constructor(logs: CosignedLogs, witnesses: readonly Witness[], onAnswered: (answered: Answered) => void) {
    this.#logs = logs;
    this.#witnesses = witnesses;
    this.#onAnswered = onAnswered;
  }

  /** The organizations whose logs a witness refuses. */
  get refused(): readonly string[] {
    return [...this.#refusals.keys()];
  }

  /** Why a witness refuses a log; undefined if none does. */
  refusalOf(organization: string): string | undefined {
    return this.#refusals.get(organization);
  }

  /**
   * Asks each of these witnesses about logs that this process is about to sign for the first time,
   * with the last checkpoint in the database. This detects a database restored from an older backup
   * before anything is signed. Never rejects.
   */
  async ask(names: readonly string[], logs: readonly Submission[]): Promise<void> {
    const asked = this.#witnesses.filter(({ name }) => names.includes(name));
    await Promise.all(asked.map((witness) => this.#askAll(witness, logs)));
  }

  /** Rejects only when the checkpoints cannot be read or changed. */
  async cosign(): Promise<void> {
    const present = this.#witnesses.filter(({ name }) => !this.#isPaused(name));
    if (present.length === 0) return;
    const logs = await this.#logs.listUncosigned(present.map(({ name }) => name));
    await Promise.all(present.map((witness) => this.#cosignAll(witness, logs)));
  }

  async #askAll(witness: Witness, logs: readonly Submission[]): Promise<void> {
    const unasked = logs.filter(({ organization }) => !this.#asked.has(keyOf(witness, organization)));
    for (let at = 0; at < unasked.length && !this.#isPaused(witness.name); at += atOnce) {
      await Promise.all(unasked.slice(at, at + atOnce).map((log) => this.#askOne(witness, log)));
    }
  }

  async #askOne(witness: Witness, log: Submission): Promise<void> {
    try {
      await witness.cosign(log);
    } catch (error) {
      if (!(error instanceof UnknownLog)) this.#note(witness, log, error);
      if (!(error instanceof UnknownLog || error instanceof WitnessRefusal)) return;
    }
    this.#asked.add(keyOf(witness, log.organization));
  }

  /** Sends one log after the other until the witness is unavailable. Logs that failed come last. */
  async #cosignAll(witness: Witness, logs: readonly Uncosigned[]): Promise<void> {
    const failedAt = ({ organization }: Uncosigned): number => this.#pausedUntil.get(keyOf(witness, organization)) ?? 0;
    for (const log of logs.toSorted((a, b) => failedAt(a) - failedAt(b))) {
      if (log.cosignedBy.includes(witness.name) || this.#refusals.has(log.organization)) continue;
      if (this.#isPaused(keyOf(witness, log.organization))) continue;
      await this.#cosignOne(witness, log);
      if (this.#isPaused(witness.name)) return;
    }
  }

  async #cosignOne(witness: Witness, log: Uncosigned): Promise<void> {
    let line: string | undefined;
    try {
      line = await witness.cosign(log);
    } catch (error) {
      if (!(error instanceof WitnessRefusal) || (await this.#isNewest(witness, log))) this.#note(witness, log, error);
      return;
    }
    this.#asked.add(keyOf(witness, log.organization));
    await this.#logs.addCosignature(log, witness.name, line);
    this.#onAnswered({ witness: witness.name, organization: log.organization });
  }

  /** False if another worker signed a newer checkpoint meanwhile: then the witness is right. */
  async #isNewest({ name }: Witness, { organization, size }: Uncosigned): Promise<boolean> {
    const [newest] = await this.#logs.listUncosigned([name], organization);
    return newest !== undefined && newest.size <= size;
  }

  #note({ name }: Witness, { organization }: Submission, error: unknown): void {
    const isOfLog = error instanceof WitnessRefusal || error instanceof UnknownLog;
    if (error instanceof WitnessRefusal) this.#refusals.set(organization, error.message);
    this.#pausedUntil.set(keyOf({ name }, organization), performance.now() + pauseMs);
    if (!isOfLog) this.#pausedUntil.set(name, performance.now() + pauseMs);
    this.#onAnswered({ witness: name, organization, error });
  }

  #isPaused(key: string): boolean {
    return (this.#pausedUntil.get(key) ?? -Infinity) > performance.now();
  }
}

function keyOf({ name }: Pick<Witness, 'name'>, organization: string): string {
  return `${name}\n${organization}`;
}
