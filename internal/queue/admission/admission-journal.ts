import { setTimeout as sleep } from 'node:timers/promises';
import { Repeating } from '../../kit/async/repeating.ts';
import { queueKey } from '../keys/keys.ts';
import type { ShardQueue } from '../shards/shard-registry.ts';

/** Time between two notes of a pod, in ms. */
const noteMs = 5_000;

/** How long a stop tries to note rejections, and the time between two attempts, in ms. */
const lastNoteMs = 2_000;
const againMs = 100;

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
 * `ARGV[6]`: 0 for a pod that stops while it admits no events, and only tells of rejections.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function gap(from, to, list)
  redis.call('RPUSH', list or KEYS[2], string.format('%.0f-%.0f', from, to))
  redis.call('LTRIM', list or KEYS[2], -tonumber(ARGV[4]), -1)
end
local admitting = ARGV[6] == '1'
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if admitting and now - last > tonumber(ARGV[1]) then gap(last, now, KEYS[3]) end
if tonumber(ARGV[2]) >= 0 then gap(now - ARGV[2], now - ARGV[3]) end
if not admitting then return end
if math.abs(now - ARGV[5]) > ${clocksDifferMs} then gap(now - ${2 * noteMs}, now) end
redis.call('SET', KEYS[1], string.format('%.0f', now))
`;

/**
 * Notes in each shard when ingest takes events, when it did not serve some requests, and when its
 * clock is wrong. So an expected run is not called missing because of an outage or a clock of
 * Runledger (docs/design/verdicts.md).
 */
export class AdmissionJournal {
  readonly name = 'admission journal';
  readonly #shards: readonly ShardQueue[];
  readonly #isAdmitting: () => boolean;
  readonly #notes = new Repeating(() => this.#noteAndPause());
  /** Times of the first and last rejection that no note has, in ms of the monotonic clock. */
  #rejected: { first: number; last: number } | undefined;
  #noted = false;

  /** `isAdmitting`: true while events are admitted, by whatever shard. */
  constructor(shards: readonly ShardQueue[], isAdmitting: () => boolean) {
    this.#shards = shards;
    this.#isAdmitting = isAdmitting;
  }

  /** A request was not served, by whatever part: its event may be lost. */
  rejected(): void {
    const now = performance.now();
    this.#rejected = { first: this.#rejected?.first ?? now, last: now };
  }

  async start(): Promise<void> {
    this.#notes.start();
  }

  /** Writes a last note, before the connections to the shards are closed. */
  async stop(): Promise<void> {
    await this.#notes.stop();
    const until = performance.now() + lastNoteMs;
    while (!(await this.#note()) && this.#hasNotes && performance.now() < until) await sleep(againMs);
  }

  /** False while no shard has ever been reached: then nothing else was noted either. */
  get #hasNotes(): boolean {
    return this.#rejected !== undefined && this.#noted;
  }

  async #noteAndPause(): Promise<number> {
    if (this.#isAdmitting()) await this.#note();
    else if (this.#rejected !== undefined) return 500;
    return noteMs;
  }

  /** Resolves with false if no shard has the note. */
  async #note(): Promise<boolean> {
    const rejected = this.#rejected;
    const admitting = this.#isAdmitting();
    if (!admitting && rejected === undefined) return true;
    const ago = (time: number | undefined) => (time === undefined ? -1 : Math.round(performance.now() - time));
    const times = [silenceMs, ago(rejected?.first), ago(rejected?.last)];
    const args = [...times, keptGaps, Date.now(), admitting ? 1 : 0];
    // With several shards, the silence of one is a gap only if all were silent.
    const silences = this.#shards.length > 1 ? 'silences' : 'gaps';
    const notes = this.#shards.map(async ({ redis, queueName }) => {
      const keys = ['admitting', 'gaps', silences].map((part) => queueKey(queueName, part));
      await redis.eval(script, keys.length, ...keys, ...args);
    });
    const written = (await Promise.allSettled(notes)).some(({ status }) => status === 'fulfilled');
    this.#noted ||= written;
    // Where no note is written, the next one covers this time. A controller reads all shards.
    if (written && this.#rejected === rejected) this.#rejected = undefined;
    return written;
  }
}
