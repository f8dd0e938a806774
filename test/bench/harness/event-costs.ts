import { query } from '../../support/postgres-server.ts';
import type { Cost } from './cost-names.ts';
import type { Program } from './program.ts';
import { drained, startIngest, startRunledgerWorker, type Front } from './sides.ts';
import { acceptedInAll, drainRate, secondsUntilStored, verify } from './stored.ts';
import { fill, load, rateOf } from './wrk.ts';
import type { World } from './world.ts';

/** With the rate in events/s. */
export type Costs = Record<Cost | 'rate', number>;

/** About 7,000 events a second, each with an Idempotency-Key: a third of what one ingest takes. */
const flow = { connections: 100, pauseMs: 12, kind: 'keyed' } as const;

/** An ingest, a worker, and the database that they fill. */
export class Pipeline {
  readonly #world: World;
  readonly #database: string;
  readonly #ingest: Front & { opsPort: number };
  readonly #worker: Program;

  private constructor(world: World, database: string, ingest: Front & { opsPort: number }, worker: Program) {
    this.#world = world;
    this.#database = database;
    this.#ingest = ingest;
    this.#worker = worker;
  }

  /** Starts both, and has them do some work: what compiles at the start is not an event's cost. */
  static async start(world: World): Promise<Pipeline> {
    const database = await world.createDatabase();
    const ingest = await startIngest(world);
    const pipeline = new Pipeline(world, database, ingest, await startRunledgerWorker(world, database));
    await fill(ingest.port, flow.connections, 50_000);
    await drained(world, 'runledger');
    return pipeline;
  }

  /** What events cost while they are stored as they come. */
  async flow(seconds: number): Promise<Costs> {
    await this.#world.emptyTables(this.#database);
    const before = await this.#spent();
    const answers = await load({ port: this.#ingest.port, seconds, ...flow });
    await drained(this.#world, 'runledger');
    const after = await this.#spent();
    const events = await verify(this.#database, answers, flow.connections);
    return { rate: rateOf(answers), ...perEvent(before, after, events) };
  }

  /** What they cost while the worker drains a backlog of so many. */
  async drain(backlog: number): Promise<Costs> {
    await this.#world.emptyTables(this.#database);
    this.#worker.freeze();
    const answers = await fill(this.#ingest.port, 256, backlog);
    await acceptedInAll(this.#ingest.opsPort);
    const before = await this.#spent();
    this.#worker.thaw();
    await drained(this.#world, 'runledger');
    const after = await this.#spent();
    const events = await verify(this.#database, answers, 256 * answers.loads);
    return { rate: await drainRate(this.#database), ...perEvent(before, after, events) };
  }

  /** A flow beside a worker that is frozen for so long: how much waits then, and how long. */
  async catchUp(seconds: number): Promise<Record<'rate' | 'waiting' | 'seconds', number>> {
    await this.#world.emptyTables(this.#database);
    const { port, opsPort } = this.#ingest;
    const earlier = await acceptedInAll(opsPort);
    this.#worker.freeze();
    const rate = rateOf(await load({ port, seconds, ...flow }));
    const waiting = (await acceptedInAll(opsPort)) - earlier;
    const rest = load({ port, seconds: seconds * 2, ...flow });
    const thawed = new Date();
    this.#worker.thaw();
    await rest;
    await drained(this.#world, 'runledger');
    return { rate, waiting, seconds: await secondsUntilStored(this.#database, waiting, thawed) };
  }

  async stop(): Promise<void> {
    await this.#world.end(this.#ingest.program);
    await this.#world.end(this.#worker);
  }

  /** CPU time in ms, and bytes, so far. */
  async #spent(): Promise<Record<Cost, number>> {
    const [row] = await query(
      this.#database,
      `select (pg_current_wal_lsn() - '0/0')::float8 as wal, pg_total_relation_size('running_executions')
         + (select sum(pg_total_relation_size(relid)) from pg_partition_tree('executions'))::float8
         + (select sum(pg_total_relation_size(relid)) from pg_partition_tree('events'))::float8 as kept`,
    );
    return {
      ingest: await this.#ingest.program.cpu(),
      redis: await this.#world.redisCpu(),
      worker: await this.#worker.cpu(),
      postgres: await this.#world.postgresCpu(),
      appended: Number(/^aof_current_size:(\d+)/m.exec(await this.#world.redis.info('persistence'))?.[1]),
      wal: Number(row?.['wal']),
      kept: Number(row?.['kept']),
    };
  }
}

function perEvent(before: Record<Cost, number>, after: Record<Cost, number>, events: number): Record<Cost, number> {
  const bytes = (cost: Cost): number => (after[cost] - before[cost]) / events;
  const us = (cost: Cost): number => bytes(cost) * 1_000;
  return {
    ingest: us('ingest'),
    redis: us('redis'),
    worker: us('worker'),
    postgres: us('postgres'),
    appended: bytes('appended'),
    wal: bytes('wal'),
    kept: bytes('kept'),
  };
}
