import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readQueueClock, type QueueClock } from '../../../internal/queue/clocks/queue-clock.ts';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { connect, disconnect } from '../../../internal/queue/ioredis-quirks.ts';
import { createProducerRedis, type RedisClient } from '../../../internal/queue/redis.ts';
import { secretManifest } from '../../../internal/cluster/tokens/manifest.ts';
import { ApiClient } from '../../support/api-client.ts';
import { declare, tickAt } from '../../support/expectations.ts';
import { Clock, clocksCanStep, forgetProcess } from '../../support/fault/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { startWorker } from '../../support/pipeline.ts';
import { RunledgerProcess } from '../../support/runledger-process.ts';
import { emptyRedis } from '../../support/servers.ts';
import { eachDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const minuteMs = 60_000;
const token = 'token-of-acme-for-clocks-0123456789';
const automationId = '0190a0b0-0000-7000-8000-000000000001';
const other = '0190a0b0-0000-7000-8000-000000000002';
const hourly = { schedule: '0 * * * *', grace: '10m', maxDuration: '30m', failures: { consecutive: 1 } };

/** The first expected time: within hours, so that the partition of its day is there. */
const begin = (Math.floor(Date.now() / (60 * minuteMs)) + 2) * 60 * minuteMs;

/** A time so many minutes after the expected time of an hour. */
const at = (hour: number, minutes: number): number => begin + (hour * 60 + minutes) * minuteMs;
const missing = (hour: number): string => `missing ${new Date(at(hour, 0)).toISOString()}`;

/** Ingest is a process whose clock is wrong; the test moves the clock of everything. */
describe('verdicts while the clock of ingest steps by five minutes', function () {
  this.timeout(120_000);
  const database = eachDatabase();
  let folder: string;
  let redis: RedisClient;
  let redisUrl: string;
  let clock: Clock;
  let ingest: RunledgerProcess;
  let client: ApiClient;

  before(function () {
    if (clocksCanStep) return;
    console.log('left out: libfaketime is not installed (Debian: faketime)');
    this.skip();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-clock-'));
    await writeFile(join(folder, 'tokens.yaml'), secretManifest({ organization: 'acme', entries: { token } }));
    redisUrl = (await emptyRedis()).url;
    redis = createProducerRedis(redisUrl);
    await connect(redis);
    clock = new Clock(join(folder, 'clock'));
    const [port, opsPort] = [await freePort(), await freePort()];
    client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
    ingest = new RunledgerProcess('ingest', {
      ...clock.environment,
      PORT: String(port),
      OPS_PORT: String(opsPort),
      REDIS_URL: redisUrl,
      TOKENS_FILE: join(folder, 'tokens.yaml'),
    });
    await ingest.ready();
    // The time before the first note is no gap: what is missing from now on can be proven.
    await until('a note', async () => (await read()).admittingAt !== undefined);
    await redis.del(queueKey('events', 'gaps'));
  });
  afterEach(async () => {
    client.close();
    await ingest.child.kill('SIGKILL');
    forgetProcess(ingest.child.process.pid);
    await disconnect(redis);
    await rm(folder, { recursive: true, force: true });
  });

  const read = (): Promise<QueueClock> => readQueueClock(redis, 'events');
  const stored = () => until('all is stored', async () => (await read()).oldestAt === undefined);

  /** Moves the clock of ingest to this time and so many minutes. */
  const setClock = async (time: number, wrongMinutes: number): Promise<void> => {
    const ahead = Math.round((time - Date.now()) / 1_000) + wrongMinutes * 60;
    clock.step(ahead);
    await until('the clock of ingest has stepped', async () => {
      const { time: shown = '' } = (await client.send({ path: '/v1/ping/' })).json<{ time?: string }>();
      return Math.abs(Date.parse(shown) - Date.now() - ahead * 1_000) < 2_000;
    });
  };

  const report = async (run: string, event: string, automation = automationId): Promise<void> => {
    const body = { automation_id: automation, execution_id: run, event, description: '' };
    expect((await client.register(body)).status).to.equal(201);
  };

  /** What a tick at this time tells. */
  const toldAt = async (time: number): Promise<string[]> => {
    const queue = { ...(await read()), now: time, admittingAt: time };
    const { transitions } = await tickAt(database.db, time, { queue });
    return transitions.map(({ change, alert: { kind, occurrence } }) => `${change} ${kind} ${occurrence}`);
  };

  it('are never missing where a run started in time, and none is lost', async () => {
    await declare(database.db, { automationId, expect: hourly, declaredAt: at(0, -30) });
    await setClock(at(0, 2), 5);
    await report('run 0', 'START');
    expect(await toldAt(at(0, 30)), 'a backlog of a clock ahead').to.deep.equal([]);
    await using _ = await startWorker({ REDIS_URL: redisUrl, DATABASE_URL: database.url }, { migrate: false });
    await stored();
    expect(await toldAt(at(0, 30)), 'a start of a clock ahead').to.deep.equal([]);
    await setClock(at(0, 31), -5);
    await report('run 0', 'END');
    await setClock(at(1, 2), -5);
    await report('run 1', 'START');
    await stored();
    expect(await toldAt(at(1, 12)), 'a start of a clock behind').to.deep.equal([]);
    await setClock(at(1, 12), 5);
    await report('run 1', 'END');
    await stored();
    expect(await toldAt(at(1, 59)), 'a run of both').to.deep.equal([]);

    for (const [hour, wrong] of [
      [2, 5],
      [4, -5],
    ] as const) {
      await setClock(at(hour, 9), wrong);
      await report('of another', 'EVENT', other);
      await stored();
      expect(await toldAt(at(hour, 10)), 'before the margin').to.deep.equal([]);
      expect(await toldAt(at(hour, 10.25))).to.deep.equal([`opened ${missing(hour)}`]);
      await setClock(at(hour + 1, 2), wrong);
      for (const event of ['START', 'END']) await report(`run ${hour + 1}`, event);
      await stored();
      expect(await toldAt(at(hour + 1, 12))).to.deep.equal([`resolved ${missing(hour)}`]);
    }

    // The next tick tells of a failure, although its time is minutes before the tick before.
    expect(await toldAt(at(6, 2))).to.deep.equal([]);
    await setClock(at(6, 2), -5);
    for (const event of ['START', 'ERROR']) await report('run 6', event);
    await stored();
    expect(await toldAt(at(6, 2.25))).to.deep.equal(['opened failing failing']);
  });

  it('cannot be told for the time in which the clock differs from the one of Redis', async () => {
    expect((await read()).gaps).to.deep.equal([]);
    for (const minutes of [5, -5]) {
      const before = (await read()).now;
      await setClock(Date.now(), minutes);
      await until('a gap', async () => (await read()).gaps.some((gap) => gap.from < before && before < gap.until));
      await setClock(Date.now(), 0);
      const right = (await read()).now;
      // The first note may be of the time before.
      const { gaps, admittingAt = 0 } = await until('notes', async () => {
        const clock = await read();
        return clock.admittingAt !== undefined && clock.admittingAt > right + 5_000 && clock;
      });
      expect(Math.max(...gaps.map((gap) => gap.until))).to.be.below(admittingAt);
    }
  });
});
