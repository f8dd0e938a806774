import type { Job } from 'bullmq';
import type { AcceptedEvent } from '../../event/event.ts';
import { isSuspect, whileMarked } from './deadly-jobs.ts';
import type { FetchedTexts } from './fetched-texts.ts';
import { DamagedJob, UnknownFormat } from './job.ts';
import type { JobDecoder, PackedJob } from './job-decoder.ts';
import type { RedisClient } from '../redis.ts';
import type { Room } from '../admission/room.ts';
import { noteMissing, SetAside } from '../set-aside.ts';

/** A job with a longer text is set aside, since its frame and events would come on top. */
const longestText = 32 * 1_024 * 1_024;

/**
 * Stores a batch. `redelivered`: an earlier worker took the job and returned it or died. Resolves
 * with `stored` once every event is safe; BullMQ then removes the job. With `postponed` it is
 * offered again later. With any other value, such as `abandoned` when the process stops, the job
 * returns to the queue.
 */
export type Handle = (events: AcceptedEvent[], redelivered: boolean) => Promise<unknown>;

export interface JobHandlingOptions {
  redis: RedisClient;
  queueName: string;
  /** Holds the data of each job that BullMQ fetched. */
  texts: FetchedTexts;
  decoder: JobDecoder;
  room: Room;
  handle: Handle;
  /** Aborted when the consumer stops; jobs that wait for room then return to the queue. */
  signal: AbortSignal;
}

/**
 * Takes the events out of a job and hands them on, in bounded memory: a job waits for room before
 * it is unpacked. Decides which jobs must be set aside.
 */
export class JobHandling {
  readonly #options: JobHandlingOptions;

  constructor(options: JobHandlingOptions) {
    this.#options = options;
  }

  /**
   * Resolves as {@link Handle} does; with {@link SetAside} for a job that must not be stored, once
   * the resulting gap in the record is noted; with {@link UnknownFormat} for one of another
   * release. Rejects while Redis is unavailable.
   */
  async handle(job: Job): Promise<unknown> {
    const { redis, queueName, texts } = this.#options;
    const result = await this.#handle(job)
      .catch((error: unknown) => this.#faultOf(error))
      .finally(() => texts.drop(job.data));
    if (result instanceof SetAside) await noteMissing(redis, queueName, job.timestamp);
    return result;
  }

  async #handle(job: Job): Promise<unknown> {
    const { redis, queueName, room, signal } = this.#options;
    const packed = this.#open(job);
    const suspect = isSuspect(job);
    const release = await (suspect ? room.takeAll(signal) : room.take(packed.bytes, signal));
    if (release === undefined) return 'abandoned';
    try {
      const work = (): Promise<unknown> => this.#store(packed, job);
      return await (suspect ? whileMarked(redis, queueName, job, work) : work());
    } finally {
      release();
    }
  }

  #open(job: Job): PackedJob {
    const { texts, decoder, room } = this.#options;
    const text = texts.textOf(job.data);
    if (text.length > longestText) throw new SetAside('too-large', `the job has ${text.length} characters`);
    const packed = decoder.open(text);
    if (room.holds(packed.bytes)) return packed;
    throw new SetAside('too-large', `the events of the job would take ${packed.bytes} bytes of memory`);
  }

  async #store(packed: PackedJob, job: Job): Promise<unknown> {
    const events: AcceptedEvent[] = await packed.events();
    this.#options.texts.drop(job.data);
    return this.#options.handle(events, job.attemptsStarted > 1);
  }

  /** A job that cannot be unpacked because the consumer stops is intact. */
  #faultOf(error: unknown): unknown {
    if (error instanceof SetAside || error instanceof UnknownFormat) return error;
    if (!(error instanceof DamagedJob)) throw error;
    if (this.#options.signal.aborted) return 'abandoned';
    return new SetAside('damaged', error.message, { cause: error });
  }
}
