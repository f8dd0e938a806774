import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { binary } from '../../support/postgres-server.ts';
import { drained, startFront, startWorker, type SideName } from './sides.ts';
import { countEvents, drainRate } from './stored.ts';
import { fill, type Answers } from './wrk.ts';
import type { World } from './world.ts';

const run = promisify(execFile);

/** Fills the queue of a side through its front, with no worker there. */
export async function fillQueue(world: World, side: SideName, database: string, events: number): Promise<Answers> {
  const front = await startFront(world, side, database);
  const answers = await fill(front.port, 256, events);
  await world.end(front.program);
  if (answers.refused + answers.broken > 0) throw new Error(`${answers.refused} refused, ${answers.broken} broken`);
  return answers;
}

/**
 * Starts a worker on a full queue. Events a second from its first to its last commit of events
 * accepted since then.
 */
export async function drainQueue(world: World, side: SideName, database: string, since?: Date): Promise<number> {
  const worker = await startWorker(world, side, database);
  await drained(world, side);
  if (worker !== undefined) await world.end(worker);
  return drainRate(database, since);
}

/**
 * Rows a second of a raw COPY, in one session, of what is stored into the same table, emptied
 * before.
 */
export async function copyRate(world: World, database: string, folder: string): Promise<number> {
  const file = join(folder, 'events.copy');
  const events = await countEvents(database);
  await psql(database, `\\copy (select * from events order by created_at, id) to '${file}'`);
  await world.emptyTables(database);
  const said = await psql(database, '\\timing on', `\\copy events from '${file}'`);
  if ((await countEvents(database)) !== events) throw new Error('COPY did not bring back every row');
  return (events / Number(/^Time: ([\d.]+) ms/m.exec(said)?.[1])) * 1_000;
}

async function psql(database: string, ...commands: string[]): Promise<string> {
  const each = commands.flatMap((command) => ['-c', command]);
  const { stdout } = await run(await binary('psql'), ['-X', '-v', 'ON_ERROR_STOP=1', ...each, database]);
  return stdout;
}
