import { expect } from 'chai';
import { QueueClocks } from '../../internal/queue/queue-clocks.ts';
import { connect, createProducerRedis, disconnect, labelOf } from '../../internal/queue/redis.ts';
import type { Answer } from './api-client.ts';
import { Callers } from './callers.ts';
import type { RunningIngest } from './pipeline.ts';
import { recordingLogger } from './recording-logger.ts';
import { until } from './until.ts';

/** Longest that a busy machine may take, in ms. */
const withinMs = 90_000;

/** A Redis, or the nodes of a Redis Cluster. */
interface Place {
  url: string;
}

export const keyedHeaders = (key: string) => ({ 'content-type': 'application/json', 'idempotency-key': key });

/** A request with an idempotency key, and the body of its 201. */
export interface KeyedRequest {
  event: Record<string, unknown>;
  key: string;
  body: string;
}

/** Half of the callers have idempotency keys. Their requests with 201 are added to `accepted`. */
export function call(ingest: () => RunningIngest, accepted: KeyedRequest[] = []): Callers {
  return new Callers(ingest().client, 4, async (event, caller): Promise<Answer> => {
    if (caller % 2 === 0) return ingest().client.register(event);
    const key = String(event['description']).replace(' ', '-');
    const answer = await ingest().client.register(event, keyedHeaders(key));
    if (answer.status === 201) accepted.push({ event, key, body: answer.body });
    return answer;
  });
}

/** Repeats requests, and checks that each gets the body of its first 201. */
export async function expectRepeats({ client }: RunningIngest, requests: readonly KeyedRequest[]): Promise<void> {
  for (const { event, key, body } of requests) {
    const again = async () => {
      const answer = await client.register(event, keyedHeaders(key));
      return answer.status === 201 && answer.body;
    };
    const repeated = await until('the repeat gets 201', again, withinMs);
    expect(repeated, 'a repeat with its key').to.equal(body);
  }
}

/** A busy machine may be slower than the time of an answer. So a 503 is shown, and no failure. */
export function report(what: string, { statuses, longestGapMs }: Callers): void {
  const gap = (longestGapMs / 1_000).toFixed(2);
  console.log(`      ${what}: ${statuses[503] ?? 0} of ${statuses[201]} answers 503, ${gap} s without a 201`);
}

/** What a controller with these shards reads; the error if it can say nothing. */
export async function clockOf(taking: readonly Place[], drained: readonly Place[] = [], queueName = 'events') {
  const open = ({ url }: Place) => ({
    redis: createProducerRedis(url).on('error', () => undefined),
    queueName,
    label: labelOf(url),
  });
  const clients = { taking: taking.map(open), drained: drained.map(open) };
  const all = [...clients.taking, ...clients.drained].map(({ redis }) => redis);
  try {
    await Promise.all(all.map(connect));
    const { logger } = recordingLogger();
    return await new QueueClocks({ ...clients, logger }).read();
  } catch (error) {
    return String(error);
  } finally {
    await Promise.all(all.map(disconnect));
  }
}

/** Waits until a controller with these shards reads that no job is in them. */
export async function drained(shards: readonly Place[], queueName?: string): Promise<void> {
  const isEmpty = async () => {
    const clock = await clockOf(shards, [], queueName);
    return typeof clock === 'object' && clock.oldestAt === undefined;
  };
  await until('the queue is empty', isEmpty, withinMs);
}
