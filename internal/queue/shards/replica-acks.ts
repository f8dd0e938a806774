import { createRedisBackend, type BackendFactory, type RedisQueueBackend } from 'bullmq';
import { asTransaction } from '../bullmq-quirks.ts';
import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/** How long to wait for the replicas, in ms; ends before the command times out. */
const acksWithinMs = 1_000;

/**
 * Too few replicas acknowledged a batch in time. The batch is in Redis, and a failover may lose it.
 */
export class Unacknowledged extends Error {
  override readonly name = 'Unacknowledged';
}

/**
 * BullMQ's backend that resolves once this many replicas have acknowledged a job (`WAIT`). One
 * pipeline does both, since WAIT covers only earlier writes on its own connection. A replica that
 * syncs to disk always acknowledges after the sync.
 */
export function acknowledgedBackend(
  redis: RedisClient,
  queueName: string,
  replicas: number,
): BackendFactory<RedisQueueBackend> {
  return (...args) => {
    const backend = createRedisBackend(...args);
    backend.addJob = async (job, jobId, parent) => {
      const pipeline = redis.pipeline();
      void backend.addJobToTransaction(asTransaction(pipeline), job, jobId, parent);
      pipeline.get(queueKey(queueName, 'id')).wait(replicas, acksWithinMs);
      const [id, lastId, acks] = ((await pipeline.exec()) ?? []).map(valueOf);
      requireAcks(Number(id), Number(lastId), Number(acks), replicas);
      return String(id);
    };
    return backend;
  };
}

/**
 * If Redis has forgotten the script, it is sent again after the pipeline. The last id that the
 * pipeline read is then lower than the job's, and the WAIT did not cover the job.
 */
function requireAcks(id: number, lastId: number, acks: number, replicas: number): void {
  if (!(id > 0)) throw new Error(`Redis refused the job: ${id}`);
  if (!(lastId >= id)) throw new Unacknowledged('Redis added the batch after asking its replicas');
  if (!(acks >= replicas)) throw new Unacknowledged(`${acks} of ${replicas} replicas acknowledged the batch in time`);
}

/** The reply to one command of a pipeline. */
function valueOf([error, value]: [error: Error | null, value: unknown]): unknown {
  if (error !== null) throw error;
  return value;
}
