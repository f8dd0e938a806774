import { Repeating } from '../async/repeating.ts';
import { queueKey } from './keys.ts';
import type { ShardQueue } from './shard-registry.ts';

/** Time between two notes of a pod, in ms. */
const noteMs = 5_000;

/** Without a note of any pod for so long, in ms, events may have been rejected. */
const silenceMs = 20_000;

/**
 * Largest difference, in ms, between the clocks of a pod and of Redis. Beyond it, the times of the
 * pod's events are wrong: nothing is known about the starts of that time.
 */
const clocksDifferMs = 60_000;

/** Gaps that are kept: the controller reads them every few seconds. */
const keptGaps = 1_000;

/**
 * Times are those of Redis. `KEYS[3]`: the list of times without a note. `ARGV[2]` and `ARGV[3]`:
 * how long ago this pod rejected its first and its last event since its last note, in ms; -1 for
 * none. `ARGV[5]`: the time of the pod. If it is wrong, it may be so since the pod's last note.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function gap(from, to, list)
  redis.call('RPUSH', list or KEYS[2], string.format('%.0f-%.0f', from, to))
  redis.call('LTRIM', list or KEYS[2], -tonumber(ARGV[4]), -1)
end
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if now - last > tonumber(ARGV[1]) then gap(last, now, KEYS[3]) end
if tonumber(ARGV[2]) >= 0 then gap(now - ARGV[2], now - ARGV[3]) end
if math.abs(now - ARGV[5]) > ${clocksDifferMs} then gap(now - ${2 * noteMs}, now) end
redis.call('SET', KEYS[1], string.format('%.0f', now))
`;

/**
 * Notes in each shard when ingest takes events, when it rejected some with 503, and when its clock
 * is wrong. So an expected run is not called missing because of an outage or a clock of Runledger
 * (ARCHITECTURE.md, "Expectations").
 */
export class AdmissionJournal {
  readonly name = 'admission journal';
  readonly #shards: readonly ShardQueue[];
  readonly #isAdmitting: () => boolean;
  readonly #notes = new Repeating(() => this.#note());
  /** Times of the first and last rejection that no note has, in ms of the monotonic clock. */
  #rejected: { first: number; last: number } | undefined;

  /** `isAdmitting`: true while events are admitted, by whatever shard. */
  constructor(shards: readonly ShardQueue[], isAdmitting: () => boolean) {
    this.#shards = shards;
    this.#isAdmitting = isAdmitting;
  }

  /** An event was rejected. */
  rejected(): void {
    const now = performance.now();
    this.#rejected = { first: this.#rejected?.first ?? now, last: now };
  }

  async start(): Promise<void> {
    this.#notes.start();
  }

  async stop(): Promise<void> {
    await this.#notes.stop();
  }

  /** Writes a note, if events are admitted. Resolves with the pause before the next one, in ms. */
  async #note(): Promise<number> {
    const rejected = this.#rejected;
    if (!this.#isAdmitting()) return rejected === undefined ? noteMs : 500;
    const ago = (time: number | undefined) => (time === undefined ? -1 : Math.round(performance.now() - time));
    const args = [silenceMs, ago(rejected?.first), ago(rejected?.last), keptGaps, Date.now()];
    // With several shards, the silence of one is a gap only if all were silent.
    const silences = this.#shards.length > 1 ? 'silences' : 'gaps';
    const notes = this.#shards.map(async ({ redis, queueName }) => {
      const keys = ['admitting', 'gaps', silences].map((part) => queueKey(queueName, part));
      await redis.eval(script, keys.length, ...keys, ...args);
    });
    const written = (await Promise.allSettled(notes)).some(({ status }) => status === 'fulfilled');
    // Where no note is written, the next one covers this time. A controller reads all shards.
    if (written && this.#rejected === rejected) this.#rejected = undefined;
    return noteMs;
  }
}
