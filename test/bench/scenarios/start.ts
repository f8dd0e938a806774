import { setTimeout as sleep } from 'node:timers/promises';
import { compare, figure } from '../harness/figures.ts';
import type { Program } from '../harness/program.ts';
import { startIngest, startRunledgerWorker } from '../harness/sides.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

type Command = 'ingest' | 'worker';

/** From exec until idle, in ms: long enough for what a start leaves to be over. */
const idleMs = 5_000;

/**
 * From exec until `/readyz` says 200, with a warm compile cache as in the image, and what an idle
 * process holds.
 */
export const start: Scenario = async (world, { rounds }) => {
  const database = await world.createDatabase();
  const starts: Record<Command, () => Promise<Program>> = {
    ingest: async () => (await startIngest(world)).program,
    worker: () => startRunledgerWorker(world, database),
  };
  const found = await compare(['ingest', 'worker'] as const, rounds, (command) => measure(world, starts[command]), {
    warmUp: true,
  });
  return {
    figures: [
      figure('Ingest is ready after', found.median('readyMs', 'ingest'), 'ms', { atMost: 1_000 }),
      figure('Worker is ready after', found.median('readyMs', 'worker'), 'ms', { atMost: 1_500 }),
      figure('Ingest resident, idle', found.median('resident', 'ingest') / 1e6, 'MB', { atMost: 120 }),
      figure('Worker resident, idle', found.median('resident', 'worker') / 1e6, 'MB', { atMost: 120 }),
    ],
  };
};

async function measure(world: World, startIt: () => Promise<Program>): Promise<{ readyMs: number; resident: number }> {
  const begun = performance.now();
  const program = await startIt();
  const readyMs = performance.now() - begun;
  await sleep(idleMs);
  const resident = await program.memory('VmRSS');
  await program.stop();
  await world.end(program);
  return { readyMs, resident };
}
