import {
  createRedisBackend,
  type BackendFactory,
  type IRedisTransaction,
  type JobsOptions,
  type RedisQueueBackend,
} from 'bullmq';
import { keyScript } from './keys/idempotency-script.ts';
import type { RedisScript } from './redis-script.ts';
import type { RedisClient } from './redis.ts';

/** How BullMQ would add a job, with a script that adds it together with idempotency keys. */
export interface AddJob {
  readonly script: RedisScript;
  /** Of BullMQ's own script. */
  readonly keys: readonly string[];
  readonly args: readonly (string | Buffer)[];
}

const together = Symbol('together');

type Together = { [together]?: (job: AddJob) => Promise<void> };

/**
 * Options of a job that `add` adds in place of BullMQ. BullMQ copies a symbol, and does not store
 * it.
 */
export function addedBy(add: (job: AddJob) => Promise<void>): JobsOptions {
  return { [together]: add } as JobsOptions & Together;
}

/** BullMQ's backend, for jobs with the options of {@link addedBy} too. */
export function addingBackend(redis: RedisClient): BackendFactory<RedisQueueBackend> {
  let script: RedisScript | undefined;
  return (...args) => {
    const backend = createRedisBackend(...args);
    const addJob = backend.addJob.bind(backend);
    backend.addJob = async (job, jobId, parent) => {
      const add = (job.opts as Together)[together];
      if (add === undefined) return addJob(job, jobId, parent);
      const { name, words } = await callOf((transaction) =>
        backend.addJobToTransaction(transaction, job, jobId, parent),
      );
      const known = scriptsOf(redis)[name];
      if (known === undefined) throw new Error(`BullMQ has no script ${name}`);
      script ??= keyScript(known.lua);
      await add({
        script,
        keys: words.slice(0, known.numberOfKeys) as string[],
        args: words.slice(known.numberOfKeys),
      });
      // The reply leaves out the id, which nobody needs.
      return '';
    };
    return backend;
  };
}

/** The call of a script that `work` makes in a transaction. */
async function callOf(
  work: (transaction: IRedisTransaction) => Promise<unknown>,
): Promise<{ name: string; words: (string | Buffer)[] }> {
  const call = { name: '', words: [] as (string | Buffer)[] };
  const runCommand = (name: string, words: (string | Buffer)[]): void => void Object.assign(call, { name, words });
  await work({ runCommand } as unknown as IRedisTransaction);
  return call;
}

/** The scripts that BullMQ has given to the client. */
function scriptsOf(redis: RedisClient): Record<string, { lua: string; numberOfKeys: number } | undefined> {
  return (redis as unknown as { scriptsSet: ReturnType<typeof scriptsOf> }).scriptsSet;
}
