import { readCheckpoint, type TreeHead } from '../checkpoint.ts';
import type { VerifierKey } from '../keys.ts';
import type { HeadMemory } from '../signer.ts';
import { isConsistent } from '../proofs.ts';
import { objectOf, readNewest, type LockedObjects, type Newest } from './bucket-checkpoints.ts';
import { WitnessRefusal } from './refusal.ts';
import type { Submission, Witness } from './witnesses.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** How long the bucket is left alone after a failed read, in ms. */
const pauseMs = 30_000;

/** Logs that are looked up at once. */
const atOnce = 25;

/** A bucket, its logs, and whom to tell when it is unavailable. */
export interface BucketOptions {
  /** As in LEDGER_WITNESSES, without the query. */
  readonly name: string;
  /** The keys of the logs, at least one; the first names the logs. */
  readonly keys: readonly VerifierKey[];
  /** For how many days nobody can delete a checkpoint. */
  readonly days: number;
  /** The time of Postgres, in ms: a wrong clock of this process must not shorten the lock. */
  readonly now: () => Promise<number>;
  /** Called for the first request, and again after a failure. */
  readonly open: () => Promise<LockedObjects>;
  /** The bucket cannot be read. */
  readonly onAway: (error: unknown) => void;
}

/**
 * A bucket with object lock. It gets each signed checkpoint that extends the newest one there. The
 * signer must know the newest one too, so it waits until that was read once. After that, an
 * unavailable bucket delays nobody.
 */
export class BucketWitness implements Witness, HeadMemory {
  readonly name: string;
  readonly #options: BucketOptions;
  #objects: Promise<LockedObjects> | undefined;
  /** The newest checkpoint of each log that was looked up; undefined if the bucket had none. */
  readonly #newest = new Map<string, Newest | undefined>();
  /** Logs that were looked up since they were last cosigned. */
  readonly #fresh = new Set<string>();
  #awayUntil = -Infinity;
  #error: unknown;

  constructor(options: BucketOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Looks up the newest head of each log before the logs are signed. Never rejects. */
  async refresh(organizations: readonly string[]): Promise<void> {
    if (performance.now() < this.#awayUntil) return;
    try {
      for (let at = 0; at < organizations.length; at += atOnce) {
        await Promise.all(organizations.slice(at, at + atOnce).map((one) => this.#look(one)));
      }
      for (const organization of organizations) this.#fresh.add(organization);
    } catch (error) {
      this.#error = error;
      this.#awayUntil = performance.now() + pauseMs;
      this.#options.onAway(error);
    }
  }

  async recall(organization: string): Promise<TreeHead | undefined> {
    if (this.#newest.has(organization)) return this.#newest.get(organization)?.head;
    throw new Error(`the newest checkpoint in ${this.name} cannot be read`, { cause: this.#error });
  }

  /** Writes nothing: {@link cosign} does, once the checkpoint is signed. */
  async keep(): Promise<void> {}

  async cosign({ organization, note, prove }: Submission): Promise<undefined> {
    const { origin, ...head } = readCheckpoint(note);
    const newest = this.#fresh.delete(organization) ? this.#newest.get(organization) : await this.#look(organization);
    if (newest !== undefined) {
      const kept = newest.head;
      if (head.size < kept.size) throw this.#refusal(`${kept.size} leaves of a log that has ${head.size} now`);
      const proof = kept.size < head.size ? await prove(kept.size) : [];
      if (!isConsistent(kept, head, proof)) throw this.#refusal(`${kept.size} other leaves of the log`);
      if (kept.size === head.size && hasSignatures(newest.note, note, origin)) return;
    }
    const { keys, days, now } = this.#options;
    const object = objectOf(keys[0]?.name ?? '', organization, head.size);
    const until = new Date((await now()) + days * dayMs);
    await (await this.#open()).write(object, note, until);
    this.#newest.set(organization, { head, note });
  }

  async close(): Promise<void> {
    (await this.#objects)?.close();
  }

  async #look(organization: string): Promise<Newest | undefined> {
    const newest = await readNewest(await this.#open(), organization, this.#options.keys);
    this.#newest.set(organization, newest);
    return newest;
  }

  #open(): Promise<LockedObjects> {
    this.#objects ??= this.#options.open().catch((error: unknown) => {
      this.#objects = undefined;
      throw error;
    });
    return this.#objects;
  }

  #refusal(what: string): Error {
    return new WitnessRefusal(`the bucket ${this.name} has a checkpoint of ${what}`);
  }
}

/** True if a checkpoint has each line with which the keys of the log signed another one. */
function hasSignatures(note: string, other: string, origin: string): boolean {
  const lines = new Set(note.split('\n'));
  return other.split('\n').every((line) => !line.startsWith(`— ${origin} `) || lines.has(line));
}
