import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { RequestError } from '../../../internal/kit/errors/request-error.ts';
import { Claim, IdempotencyKeys, type Keyed } from '../../../internal/queue/keys/idempotency.ts';
import { keyScript } from '../../../internal/queue/keys/idempotency-script.ts';
import type { Place } from '../../../internal/queue/keys/idempotency-places.ts';
import type { RedisClient } from '../../../internal/queue/redis.ts';
import type { Answer } from '../../support/api-client.ts';
import { anEvent, eventBody } from '../../support/events.ts';
import { leasesEnd } from '../../support/keys.ts';
import { pingKey, startIngest, type RunningIngest } from '../../support/pipeline.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { emptyRedis } from '../../support/servers.ts';
import { StepProxy } from '../../support/step-proxy.ts';
import { storedEvents } from '../../support/suite-ingest.ts';
import { until } from '../../support/until.ts';

type Send = (ingest: RunningIngest) => Promise<Answer>;

const addsJob = 'events:marker';

/** Each request, what came before it, the messages of its protocol, and the events of all. */
const requests: Record<
  string,
  { before?: string; send: () => Send; steps: [text: string, nth: number][]; kinds: string }
> = {
  'an event with a key': {
    send: () => {
      const body = eventBody();
      return ({ client }) => client.register(body, { 'idempotency-key': 'k' });
    },
    steps: [[addsJob, 1]],
    kinds: 'EVENT',
  },
  'a bulk request with keys': {
    send: () => {
      const body = ['1', '2'].map((key) => ({ ...eventBody(), idempotency_key: key }));
      return ({ client }) => client.register(body, {}, undefined, '/v1/register/bulk/');
    },
    steps: [
      ['idempotency', 1],
      [addsJob, 1],
      ['idempotency', 2],
    ],
    kinds: 'EVENT EVENT',
  },
  'a ping that starts a run': {
    send: () => ping('/start'),
    steps: [
      ['open-run', 1],
      [addsJob, 1],
      ['open-run', 2],
    ],
    kinds: 'START',
  },
  'a ping that fails a run': {
    before: '/start',
    send: () => ping('/fail'),
    steps: [
      ['open-run', 1],
      [addsJob, 1],
      ['open-run', 2],
    ],
    kinds: 'START ERROR END',
  },
  'a ping with a rid': {
    before: '/start?rid=a',
    send: () => ping('?rid=a'),
    steps: [
      ['named-runs', 1],
      [addsJob, 1],
      ['named-runs', 2],
    ],
    kinds: 'START END',
  },
};

function ping(end: string): Send {
  return ({ client }) =>
    client.send({ method: 'POST', path: `/ping/${pingKey}/${automation}${end}`, headers: { token: undefined } });
}

const automation = randomUUID();

describe('a request and its repeat, when a process is killed between two steps of their protocol', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let second: RunningIngest;
  before(async () => {
    redis = await RedisServer.start();
    second = await startIngest({ REDIS_URL: redis.url });
  });
  afterEach(() => second.client.close());
  after(async () => {
    await second.stop();
    await redis.stop();
  });

  const succeeded = (answer: Answer | undefined): boolean => answer !== undefined && answer.status < 300;

  for (const [name, { before: earlier, send: requestOf, steps, kinds }] of Object.entries(requests)) {
    for (const victim of ['ingest', 'Redis'] as const) {
      it(`${name}: ${victim} is killed; the record has each event once`, async () => {
        for (const [text, nth] of steps) {
          for (const side of ['before', 'after'] as const) {
            await redis.command('flushall');
            await using proxy = await StepProxy.start(redis.port);
            await using first = await startIngest({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
            await until('the second is ready', () => second.degraded()['redis'] === undefined);
            if (earlier !== undefined) expect((await ping(earlier)(second)).status).to.equal(200);
            const killed = proxy.stopAt(text, nth, side, async () => {
              if (victim === 'ingest') return proxy.cut();
              await redis.kill();
              await redis.startAgain();
            });
            const send = requestOf();
            const answer = await send(first);
            await killed;
            await leasesEnd(redis);
            const repeat = succeeded(answer)
              ? answer
              : await until('the repeat succeeds', async () => {
                  const one = await send(second);
                  return succeeded(one) && one;
                });
            const found = new Map((await storedEvents(redis.url)).map((event) => [event.id, event.kind]));
            expect([...found.values()].join(' '), `${side} ${text} ${nth}`).to.equal(kinds);
            if (succeeded(answer)) expect(repeat.body).to.equal(answer.body);
            proxy.heal();
          }
        }
      });
    }
  }
});

/** A script that adds a job as BullMQ does, to a list; and what it adds. */
const addToList = keyScript(`
if ARGV[1] == 'refused' then return redis.call('HGET', 'not', 'a', 'hash') end
return redis.call('RPUSH', 'jobs', ARGV[2])
`);

/** Commits a key together with its event. */
async function joined(keys: IdempotencyKeys, { redis }: Place, keyed: Keyed, outcome: string) {
  const claim = new Claim(keyed);
  const job = JSON.stringify({ id: claim.events[0]?.id });
  await keys.commit(redis, [{ claim, from: 0 }], 1, { script: addToList, keys: [], args: [outcome, job, ''] });
  return claim.refusal ?? claim;
}

describe('the protocol of idempotency keys', () => {
  it('doubles and loses no event in any order of two pods and two places, of which one may fail', async function () {
    this.timeout(120_000);
    const server = await emptyRedis();
    await server.use(async (redis) => {
      const outcome = fc.constantFrom('added', 'refused', 'added, no answer', 'killed', 'added, then killed');
      const pod = fc.record({ outcomes: fc.array(outcome, { minLength: 1, maxLength: 3 }) });
      const faults = fc.array(fc.constantFrom('', '', 'lost request', 'lost answer'), { maxLength: 12 });
      const more = { failing: fc.nat(1), faults, leases: fc.nat(3), isOnePlace: fc.boolean() };
      const cases = fc.record({ pods: fc.tuple(pod, pod), ...more });
      const property = fc.asyncProperty(fc.scheduler(), cases, async (scheduler, { pods, ...given }) => {
        const { failing, faults, leases, isOnePlace } = given;
        await redis.flushall();
        const left = [...faults];
        /** A place to whose calls the scheduler gives an order, and which may fail. */
        const placeOf = (index: number): Place => {
          const call = scheduler.scheduleFunction(async (...args: Parameters<RedisClient['callBuffer']>) => {
            const fault = isOnePlace || index === failing ? left.shift() : '';
            if (fault === 'lost request') return undefined;
            const reply = await redis.callBuffer(...args).catch((error: unknown) => error);
            return fault === 'lost answer' ? undefined : reply;
          });
          const callBuffer = async (...args: Parameters<RedisClient['callBuffer']>) => {
            const reply = await call(...args);
            if (reply === undefined || reply instanceof Error) throw reply ?? new Error('no answer');
            return reply;
          };
          return { redis: { callBuffer } as unknown as RedisClient, key: `idempotency:${index}` };
        };
        const queued = new Set<string>();
        const acknowledged = new Set<string>();
        const run = async (outcomes: readonly string[]): Promise<void> => {
          const first = placeOf(0);
          const places = isOnePlace ? ([first] as const) : ([first, placeOf(1)] as const);
          const keys = new IdempotencyKeys({
            all: places,
            placesOf: () => places,
            placeOfAll: first,
            keptMs: 60_000,
            callers: { open: 1 },
          });
          for (const outcome of outcomes) {
            const keyed: Keyed = { key: ['caller', 'k'], events: [anEvent({ executionId: 'run' })] };
            // With one place, some requests reserve before they commit, as bulk requests do.
            const isJoined = isOnePlace && outcome !== 'added, then killed';
            const claim = await (isJoined ? joined(keys, first, keyed, outcome) : keys.reserve(keyed)).catch(
              () => undefined,
            );
            if (claim === undefined || claim instanceof RequestError) continue;
            const id = claim.events[0]?.id ?? '';
            if (claim.committed || (isJoined && claim.isNew)) {
              acknowledged.add(id);
              continue;
            }
            if (outcome.startsWith('added')) queued.add(id);
            if (outcome === 'added') acknowledged.add(id);
            if (outcome.endsWith('killed')) return;
            if (outcome === 'added') keys.markCommitted(claim);
            else keys.release(claim);
          }
          await keys.drained();
        };
        const time = scheduler.scheduleSequence(
          Array.from({ length: leases }, (_, at) => ({ label: `leases end ${at}`, builder: () => leasesEnd(server) })),
        );
        await scheduler.waitFor(Promise.all([...pods.map(({ outcomes }) => run(outcomes)), time.task]));
        for (const text of await redis.lrange('jobs', 0, -1)) {
          const { id, without } = JSON.parse(text) as { id: string; without?: number[] };
          if (without === undefined) queued.add(id);
        }
        expect([...queued], 'one event at most').to.have.length.at.most(1);
        for (const id of acknowledged) expect(queued, 'no receipt without its event').to.include(id);
      });
      await fc.assert(property, { numRuns: 200 });
    });
  });
});
