import { readCheckpoint } from '../checkpoint.ts';
import { findCosignature } from '../note.ts';
import type { VerifierKey } from '../keys.ts';
import { UnknownLog, WitnessRefusal } from './refusal.ts';
import type { Submission, Witness } from './witnesses.ts';

/** Longest wait for an answer, in ms. It delays the sealer at most once in 30 s. */
const usualTimeoutMs = 10_000;

/** Most requests for one checkpoint: another worker may get a newer one cosigned meanwhile. */
const mostAttempts = 4;

/** Characters of an answer that are read: some signature lines. */
const mostCharacters = 65_536;

/**
 * A witness (C2SP tlog-witness). It cosigns a checkpoint only if it extends the last one that it
 * cosigned of the same log, so nobody can show two different logs.
 */
export class HttpWitness implements Witness {
  readonly #address: URL;
  readonly #key: VerifierKey;
  readonly #timeoutMs: number;
  /** The size last cosigned, by the name of the log. */
  readonly #sizes = new Map<string, number>();

  /** @param url its submission prefix. */
  constructor(url: URL, key: VerifierKey, timeoutMs = usualTimeoutMs) {
    this.#address = new URL(`${url.origin}${url.pathname.replace(/\/$/, '')}/add-checkpoint`);
    this.#key = key;
    this.#timeoutMs = timeoutMs;
  }

  get name(): string {
    return this.#key.name;
  }

  /** Rejects with {@link WitnessRefusal} or {@link UnknownLog}; with other errors in an outage. */
  async cosign(submission: Submission): Promise<string> {
    const { origin, size } = readCheckpoint(submission.note);
    let old = Math.min(this.#sizes.get(origin) ?? 0, size);
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const answer = await this.#send(submission, old);
      if (answer.status === 200) return this.#accept(submission.note, answer);
      const latest = answer.status === 409 ? sizeOf(answer.text) : undefined;
      if (latest === undefined) throw this.#failure(answer);
      if (latest > size) {
        throw new WitnessRefusal(
          `the witness ${this.name} has cosigned ${latest} leaves, and this checkpoint has ${size}`,
        );
      }
      // Nobody can cosign an empty log twice, or contradict it.
      if (latest === 0 && old === 0) throw new UnknownLog(`the witness ${this.name} takes no checkpoint of this size`);
      if (latest === old) throw this.#contradiction(latest);
      old = latest;
    }
    throw new Error(`the witness ${this.name} kept cosigning newer checkpoints`);
  }

  #accept(note: string, answer: Answer): string {
    const { origin, size } = readCheckpoint(note);
    const lines = answer.text.split('\n').filter((line) => line !== '');
    const cosignature = findCosignature(note, lines, this.#key);
    if (cosignature === undefined) throw new Error(`the answer of the witness ${this.name} lacks its cosignature`);
    this.#sizes.set(origin, size);
    return cosignature.line;
  }

  #failure({ status, text }: Answer): Error {
    if (status === 422) return new WitnessRefusal(`the witness ${this.name} has cosigned other leaves of the log`);
    const sentence = `the witness ${this.name} answered ${status}: ${excerpt(text)}`;
    return status === 400 || status === 403 || status === 404 ? new UnknownLog(sentence) : new Error(sentence);
  }

  #contradiction(size: number): Error {
    return new WitnessRefusal(`the witness ${this.name} has cosigned ${size} other leaves of the log`);
  }

  async #send(submission: Submission, old: number): Promise<Answer> {
    const { note } = submission;
    const { size } = readCheckpoint(note);
    const proof = old === 0 || old === size ? [] : await submission.prove(old);
    const head = [`old ${old}`, ...proof.map((hash) => hash.toString('base64'))].join('\n');
    const answer = await fetch(this.#address, {
      method: 'POST',
      // Ten seconds later the connection may be gone.
      headers: { Connection: 'close' },
      body: `${head}\n\n${note}`,
      redirect: 'error',
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    const text = await answer.text();
    return { status: answer.status, text: text.slice(0, mostCharacters) };
  }
}

interface Answer {
  status: number;
  text: string;
}

/** The size in the body of a 409. */
function sizeOf(text: string): number | undefined {
  return /^\d{1,15}\n?$/.test(text) ? Number(text) : undefined;
}

function excerpt(text: string): string {
  return text.slice(0, 100).trim();
}
