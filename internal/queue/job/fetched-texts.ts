import type { BackendFactory, RedisQueueBackend } from 'bullmq';
import { heldTextBytes } from '../../event/held-bytes.ts';
import { lookNow } from '../fetch-cooldown.ts';

/** The scripts of BullMQ that may reply with the next job: its hash, then its id. */
const fetching = new Set(['moveToActive', 'moveToFinished', 'moveToDelayed']);

/**
 * The data of fetched jobs, as texts that nobody has parsed. BullMQ fetches as many jobs as may be
 * under way before the first one is handled, whatever their size: here it waits with the next one
 * while the texts take `mostBytes`. BullMQ itself gets a number as the data of a job, so that it
 * cannot stumble over a job that is not JSON.
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

  /** The text of a job that was fetched, by the data that BullMQ has of it; '' if it had none. */
  textOf(data: unknown): string {
    return this.#texts.get(Number(data)) ?? '';
  }

  /** Forgets the text of a job. Safe twice. */
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

  /** The backend of `make`, with the data of each job kept here. */
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
        return fetching.has(name) ? Promise.resolve(reply).then((value) => this.#keep(value)) : reply;
      };
      // "No job": BullMQ handles none of those that it has fetched while it waits in a fetch.
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

  #keep(reply: unknown): unknown {
    const [hash] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (!Array.isArray(hash)) return reply;
    for (let place = 0; place < hash.length; place += 2) {
      const text = String(hash[place + 1]);
      if (hash[place] === 'data') hash[place + 1] = this.#add(text);
      // Damaged options, which only a job that fails needs.
      if (hash[place] === 'opts' && !isJson(text)) hash[place + 1] = '{}';
    }
    return reply;
  }

  /** Returns what BullMQ takes for the data of the job. */
  #add(text: string): string {
    this.#fetched += 1;
    this.#texts.set(this.#fetched, text);
    this.#bytes += heldTextBytes(text);
    if (!this.#hasRoom) this.#room ??= Promise.withResolvers();
    return String(this.#fetched);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
