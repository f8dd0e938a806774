import { setTimeout as sleep } from 'node:timers/promises';
import { Rounds } from '../harness/figures.ts';
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
  const ready = new Rounds<Command>();
  const resident = new Rounds<Command>();
  for (let round = -1; round < rounds; round += 1) {
    for (const [command, startIt] of Object.entries(starts)) {
      const measured = await measure(world, startIt);
      if (round < 0) continue;
      ready.add(command as Command, measured.readyMs);
      resident.add(command as Command, measured.resident / 1e6);
    }
  }
  return {
    figures: [
      { name: 'Ingest is ready after', value: ready.median('ingest'), unit: 'ms', bar: { atMost: 1_000 } },
      { name: 'Worker is ready after', value: ready.median('worker'), unit: 'ms', bar: { atMost: 1_500 } },
      { name: 'Ingest resident, idle', value: resident.median('ingest'), unit: 'MB', bar: { atMost: 120 } },
      { name: 'Worker resident, idle', value: resident.median('worker'), unit: 'MB', bar: { atMost: 120 } },
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
