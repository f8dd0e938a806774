import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { nameOf, placeReplyMs } from '../../internal/queue/keys/idempotency.ts';
import { keyTags, oppositeOf, rangeOf } from '../../internal/queue/keys/idempotency-places.ts';
import { QueueClocks } from '../../internal/queue/clocks/queue-clocks.ts';
import { connect, disconnect } from '../../internal/queue/ioredis-quirks.ts';
import { createProducerRedis, labelOf } from '../../internal/queue/redis.ts';
import type { Answer } from './api-client.ts';
import { Callers } from './callers.ts';
import { eventBody } from './events.ts';
import { startIngest, type RunningIngest } from './pipeline.ts';
import { recordingLogger } from './recording-logger.ts';
import type { RedisCluster } from './redis-cluster.ts';
import type { RedisServer } from './redis-server.ts';
import { until } from './until.ts';

/** Longest that a busy machine may take, in ms. */
const withinMs = 90_000;

/** A Redis, or the nodes of a Redis Cluster. */
interface Place {
  url: string;
}

export const keyedHeaders = (key: string) => ({ 'content-type': 'application/json', 'idempotency-key': key });

/** Half of the callers have idempotency keys. */
export function call(ingest: () => RunningIngest): Callers {
  return new Callers(ingest().client, 4, (event, caller): Promise<Answer> => {
    const key = String(event['description']).replace(' ', '-');
    return ingest().client.register(event, caller % 2 === 0 ? {} : keyedHeaders(key));
  });
}

/** Ingest pods of which one replaces another. */
export class RollingPods {
  readonly #running = new Set<RunningIngest>();

  /** Resolves once the pod is ready, as Kubernetes sends it no request before. */
  async start(settings: Record<string, string>): Promise<RunningIngest> {
    const pod = await startIngest(settings);
    this.#running.add(pod);
    await until('the pod is ready', () => Object.keys(pod.unready()).length === 0, withinMs);
    return pod;
  }

  async stop(pod: RunningIngest): Promise<void> {
    this.#running.delete(pod);
    await pod.stop();
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((pod) => this.stop(pod)));
  }
}

/** An event that no other test has. */
export function ownEvent(): Record<string, unknown> {
  return eventBody({ description: randomUUID() });
}

function registerBulk({ client }: RunningIngest, events: readonly object[]): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return client.send({ method: 'POST', path: '/v1/register/bulk/', headers, body: JSON.stringify(events) });
}

/** The body of a 201. A repeat gets 409 while the first request is under way. */
export function bodyOf(send: () => Promise<Answer>): Promise<string> {
  const attempt = async () => {
    const answer = await send();
    return answer.status === 201 && answer.body;
  };
  return until('an answer 201', attempt, withinMs);
}

/**
 * Sends requests with keys to a pod, of one event and of many, and repeats them at another pod:
 * both must have the same answer. A place of keys counts as unavailable after 500 ms. So an answer
 * that took longer says nothing, and another request is sent.
 */
export async function expectRepeats(first: RunningIngest, other: RunningIngest): Promise<void> {
  const kinds = [
    () => {
      const [event, key] = [ownEvent(), randomUUID()];
      return ({ client }: RunningIngest) => client.register(event, keyedHeaders(key));
    },
    () => {
      const events = Array.from({ length: 50 }, () => ({ ...ownEvent(), idempotency_key: randomUUID() }));
      return (pod: RunningIngest) => registerBulk(pod, events);
    },
  ];
  for (const request of kinds) {
    if (!(await quickOne(request, first, other))) console.log('      too busy to compare the answers to repeats');
  }
}

async function quickOne(
  request: () => (pod: RunningIngest) => Promise<Answer>,
  first: RunningIngest,
  other: RunningIngest,
): Promise<boolean> {
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const send = request();
    const answers = [await timed(() => send(first)), await timed(() => send(other))] as const;
    if (answers.some(({ ms }) => ms >= placeReplyMs)) continue;
    expect(answers[1].body, 'the answer to a repeat').to.equal(answers[0].body);
    return true;
  }
  return false;
}

async function timed(send: () => Promise<Answer>): Promise<{ body: string; ms: number }> {
  const began = performance.now();
  return { body: await bodyOf(send), ms: performance.now() - began };
}

/** Six idempotency keys: three with their first place on a master, three with their second. */
export async function keysOn(cluster: RedisCluster, master: RedisServer): Promise<string[]> {
  const keys: string[] = [];
  for (const [count, placeOf] of [
    [3, (home: number) => home],
    [6, oppositeOf],
  ] as const) {
    while (keys.length < count) {
      const key = randomUUID();
      const tag = keyTags[placeOf(rangeOf(nameOf('acme', ['caller', key])))];
      if ((await cluster.ownersOf(`{${tag}}`)).master === master) keys.push(key);
    }
  }
  return keys;
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

/** As {@link clockOf}; asks again while a Redis does not answer within the time of a controller. */
export function readClock(...shards: Parameters<typeof clockOf>) {
  const attempt = async () => {
    const clock = await clockOf(...shards);
    return typeof clock === 'object' && clock;
  };
  return until('a controller can read the shards', attempt, withinMs);
}

/** Waits until a controller with these shards reads that no job is in them. */
export async function drained(shards: readonly Place[], queueName?: string): Promise<void> {
  const isEmpty = async () => (await readClock(shards, [], queueName)).oldestAt === undefined;
  await until('the queue is empty', isEmpty, withinMs);
}
