import type { BackendFactory, RedisQueueBackend } from 'bullmq';
import { heldTextBytes } from '../../event/held-bytes.ts';
import { fetching, lookNow, replaceData } from '../bullmq-quirks.ts';

/**
 * Holds the data of fetched jobs as unparsed texts. BullMQ fetches as many jobs as may run at once
 * before the first is handled, whatever their size; here it waits while the texts take `mostBytes`.
 * BullMQ itself sees only a number as the job's data, so a job that is not JSON cannot break it.
 */
export class FetchedTexts {
  readonly #mostBytes: number;
  readonly #texts = new Map<number, string>();
  #bytes = 0;
  #fetched = 0;
  #closed = false;
  /** Resolves once there is room again; undefined while there is. */
  #room: PromiseWithResolvers<void> | undefined;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The text of a fetched job, by what BullMQ holds as its data; '' if it had none. */
  textOf(data: unknown): string {
    return this.#texts.get(Number(data)) ?? '';
  }

  /** Forgets the text of a job. Idempotent. */
  drop(data: unknown): void {
    const text = this.#texts.get(Number(data));
    if (text === undefined) return;
    this.#texts.delete(Number(data));
    this.#bytes -= heldTextBytes(text);
    if (!this.#hasRoom) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Ends the wait for room, so that BullMQ can close. */
  close(): void {
    this.#closed = true;
    this.#room?.resolve();
  }

  /** Wraps the backend of `make`, and keeps the data of each job here. */
  backend(make: BackendFactory<RedisQueueBackend>): BackendFactory<RedisQueueBackend> {
    return (...args) => {
      const backend = make(...args);
      const execCommand = backend.execCommand.bind(backend);
      const moveToActive = backend.moveToActive.bind(backend);
      const moveToCompleted = backend.moveToCompleted.bind(backend);
      const moveToFailed = backend.moveToFailed.bind(backend);
      const waitForJob = backend.waitForJob.bind(backend);
      backend.execCommand = (client, name, scriptArgs) => {
        const reply = execCommand(client, name, scriptArgs) as unknown;
        if (!fetching.has(name)) return reply;
        return Promise.resolve(reply).then((value) => replaceData(value, (text) => this.#add(text)));
      };
      // "No job": while a fetch waits, BullMQ handles none of the jobs that it has fetched.
      backend.moveToActive = async (token, name) => (this.#hasRoom ? moveToActive(token, name) : []);
      backend.waitForJob = async (blockTimeout) => {
        if (this.#room === undefined || this.#closed) return waitForJob(blockTimeout);
        await this.#room.promise;
        return lookNow;
      };
      backend.moveToCompleted = (job, value, remove, token, fetchNext) =>
        moveToCompleted(job, value, remove, token, fetchNext && this.#hasRoom);
      backend.moveToFailed = (job, reason, remove, token, fetchNext, fields) =>
        moveToFailed(job, reason, remove, token, fetchNext && this.#hasRoom, fields);
      return backend;
    };
  }

  get #hasRoom(): boolean {
    return this.#bytes < this.#mostBytes;
  }

  /** Returns what BullMQ takes for the job's data. */
  #add(text: string): string {
    this.#fetched += 1;
    this.#texts.set(this.#fetched, text);
    this.#bytes += heldTextBytes(text);
    if (!this.#hasRoom) this.#room ??= Promise.withResolvers();
    return String(this.#fetched);
  }
}
