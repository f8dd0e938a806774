import { query } from '../../support/postgres-server.ts';
import { logKey, publicLogKey } from '../../support/sealed-ledger.ts';
import { until } from '../../support/until.ts';
import { figure } from '../harness/figures.ts';
import { startRunledgerWorker } from '../harness/sides.ts';
import type { World } from '../harness/world.ts';
import { generateEvents } from './growth.ts';
import type { Scenario } from './scenario.ts';

/** The number of events of the bar. */
const all = 20_000_000;

/** So many of the events are sealed once more as older ones, which takes longer. */
const olderShare = 1 / 10;

/**
 * Has a worker seal events that were stored with their leaves, and verifies the log against the
 * record. `seal` is measured by itself, with events that were stored without a log: it writes their
 * rows again, with a salt.
 */
export const seal: Scenario = async (world, { sealEvents }) => {
  const older = await world.createDatabase();
  const olderEvents = sealEvents * olderShare;
  await generateEvents(older, olderEvents, 'older');
  await world.checkpoint(older);
  const command = await timed(world, olderEvents, () => makeLeaves(world, older));
  const database = await world.createDatabase();
  await generateEvents(database, sealEvents, 'salted');
  await makeLeaves(world, database);
  await world.checkpoint(database);
  const sealing = await timed(world, sealEvents, () => sealAll(world, database, sealEvents));
  await query(database, 'vacuum (analyze) log_segments, log_tiles, log_tails');
  const bytes = await bytesOfLog(database);
  const verifying = await timed(world, sealEvents, () => verifyAll(world, database, sealEvents));
  const both = sealing.seconds + verifying.seconds;
  return {
    figures: [
      figure('Events sealed and verified', sealEvents, 'events'),
      figure('Rate of sealing', sealEvents / sealing.seconds, 'events/s'),
      figure('CPU of the worker that seals', sealing.program, 'µs/event'),
      figure('CPU of Postgres meanwhile', sealing.postgres, 'µs/event'),
      figure('Rate of verify', sealEvents / verifying.seconds, 'events/s'),
      figure('CPU of verify', verifying.program, 'µs/event'),
      figure('CPU of Postgres meanwhile, in verify', verifying.postgres, 'µs/event'),
      figure('Memory of verify, most', verifying.memory / 2 ** 20, 'MB'),
      figure('Sealing and verify', both, 's'),
      figure('Sealing and verify of 20 million events, at this rate', (both * all) / sealEvents, 's', { atMost: 600 }),
      figure('Rate of the command seal, for older events', olderEvents / command.seconds, 'events/s'),
      figure('CPU of it', command.program, 'µs/event'),
      figure('CPU of Postgres meanwhile, for older events', command.postgres, 'µs/event'),
      figure('Bytes of the log in Postgres', bytes / sealEvents, 'B/event', { atMost: 53 }),
    ],
  };
};

/** What a program used, in ms and bytes. */
interface Used {
  cpu: number;
  memory: number;
}

/** The time of some work in s, and CPU time per event in µs. */
async function timed(world: World, events: number, work: () => Promise<Used>) {
  const before = await world.postgresCpu();
  const begun = performance.now();
  const { cpu, memory } = await work();
  const seconds = (performance.now() - begun) / 1_000;
  const perEvent = (ms: number): number => (ms * 1_000) / events;
  return { seconds, program: perEvent(cpu), postgres: perEvent((await world.postgresCpu()) - before), memory };
}

/** Runs the command `seal`. */
function makeLeaves(world: World, database: string): Promise<Used> {
  const args = ['--organization', 'acme', '--by', 'bench', '--reason', 'bench', '--yes'];
  return usedBy(
    world.program('cmd/admin/main.ts', { DATABASE_URL: database, LEDGER_KEY: logKey }, [], ['seal', ...args]),
  );
}

/** Ends a worker once a checkpoint covers all events. */
async function sealAll(world: World, database: string, events: number): Promise<Used> {
  const worker = await startRunledgerWorker(world, database, { LEDGER_KEY: logKey });
  const isSealed = async (): Promise<boolean> => {
    const text = `select from log_checkpoints where organization = 'acme' and size > ${events}`;
    return (await query(database, text)).length > 0;
  };
  await until('all events are sealed', isSealed, 3_600_000, 500);
  const used = { cpu: await worker.cpu(), memory: await worker.memory('VmHWM') };
  await world.end(worker);
  return used;
}

/** @throws when it finds anything, or compares fewer events. */
async function verifyAll(world: World, database: string, events: number): Promise<Used> {
  const args = ['--public-key', publicLogKey, '--organization', 'acme'];
  const verify = world.program('cmd/admin/main.ts', { DATABASE_URL: database }, [], ['verify', ...args]);
  const used = await usedBy(verify);
  const said = verify.output.join('\n');
  if (!said.includes(`${events.toLocaleString('en')} events`)) throw new Error(`verify:\n${said}`);
  return used;
}

/** What a program used until it ended. @throws unless it succeeds. */
async function usedBy(program: ReturnType<World['program']>): Promise<Used> {
  let used: Used = { cpu: 0, memory: 0 };
  let code: number | null | undefined;
  const ended = program.ended().then((its) => (code = its));
  const look = async (): Promise<boolean> => {
    const now = Promise.all([program.cpu(), program.memory('VmHWM')]);
    used = await now.then(([cpu, memory]) => ({ cpu, memory: memory || used.memory })).catch(() => used);
    return code !== undefined;
  };
  await until('the program has ended', look, 3_600_000, 50);
  await ended;
  if (code !== 0) throw new Error(`${code}\n${program.output.join('\n')}`);
  return used;
}

async function bytesOfLog(database: string): Promise<number> {
  const tables = ['log_tiles', 'log_tails', 'log_trees', 'log_checkpoints'];
  const sum = tables.map((table) => `pg_total_relation_size('${table}')`).join(' + ');
  return Number((await query(database, `select (${sum})::float8 as bytes`))[0]?.['bytes']);
}
