import { setTimeout as sleep } from 'node:timers/promises';
import { Repeating } from '../../kit/async/repeating.ts';
import { queueKey } from '../keys/keys.ts';
import type { ShardQueue } from '../shards/shard-registry.ts';

/** Time between two notes of a pod, in ms. */
const noteMs = 5_000;

/** How long a stop tries to record rejections, and the time between two attempts, in ms. */
const lastNoteMs = 2_000;
const againMs = 100;

/** If no pod has left a note for this long, in ms, events may have been rejected. */
const silenceMs = 20_000;

/**
 * Largest difference between the clocks of a pod and of Redis, in ms. Beyond it the times of the
 * pod's events are wrong, so nothing is known about runs that started then.
 */
const clocksDifferMs = 60_000;

/** Gaps to keep; the controller reads them every few seconds. */
const keptGaps = 1_000;

/**
 * Times are those of Redis. `KEYS[3]`: the list of times without a note. `ARGV[2]`, `ARGV[3]`: how
 * long ago this pod rejected its first and its last event since its last note, in ms; -1 for none.
 * `ARGV[5]`: the pod's time. If it is wrong, it may have been so since the pod's last note.
 * `ARGV[6]`: 0 for a pod that stops while it admits no events, and only reports rejections.
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
 * Notes in each shard when ingest admits events, when it failed to serve some, and when its clock
 * is wrong. So an outage or a wrong clock of Runledger does not make an expected run `missing`
 * (docs/design/verdicts.md).
 */
export class AdmissionJournal {
  readonly name = 'admission journal';
  readonly #shards: readonly ShardQueue[];
  readonly #isAdmitting: () => boolean;
  readonly #notes = new Repeating(() => this.#noteAndPause());
  /** Times of the first and last rejection that no note covers, in ms of the monotonic clock. */
  #rejected: { first: number; last: number } | undefined;
  #noted = false;

  /** @param isAdmitting true while any shard admits events. */
  constructor(shards: readonly ShardQueue[], isAdmitting: () => boolean) {
    this.#shards = shards;
    this.#isAdmitting = isAdmitting;
  }

  /** Records that a request was not served, for whatever reason: its event may be lost. */
  rejected(): void {
    const now = performance.now();
    this.#rejected = { first: this.#rejected?.first ?? now, last: now };
  }

  async start(): Promise<void> {
    this.#notes.start();
  }

  /** Writes a last note before the connections to the shards close. */
  async stop(): Promise<void> {
    await this.#notes.stop();
    const until = performance.now() + lastNoteMs;
    while (!(await this.#note()) && this.#hasNotes && performance.now() < until) await sleep(againMs);
  }

  /** False while no shard has been reached yet: then there is no earlier note either. */
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
    // A shard that missed this note catches up with the next. The controller reads all shards.
    if (written && this.#rejected === rejected) this.#rejected = undefined;
    return written;
  }
}
