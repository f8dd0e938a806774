import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cpuTime } from '../harness/cpu.ts';
import { compare, figure } from '../harness/figures.ts';
import { load } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const variants = ['on', 'off'] as const;
type Variant = (typeof variants)[number];

const connections = 64;
const script = join(import.meta.dirname, '../harness/switched-ingest.ts');

/**
 * What metrics and logs cost ingest: CPU time per event with both switched on and off in turn, in
 * one warm process.
 */
export const telemetry: Scenario = async (world, { rounds, seconds }) => {
  const child = fork(script, {
    env: { ...process.env, REDIS_URL: world.redisUrl },
    stdio: ['ignore', 'ignore', 2, 'ipc'],
  });
  const exited = once(child, 'exit');
  try {
    const [port] = (await once(child, 'message')) as [number];
    await load({ port, connections, seconds: seconds * 2 });
    // Short and many: the difference is smaller than what a neighbour takes from one round.
    const found = await compare(variants, rounds * 6, async (variant) => ({
      cpu: await measure(world, child, port, variant),
    }));
    return {
      figures: [
        figure('CPU of ingest with metrics and logs', found.median('cpu', 'on'), 'µs/event'),
        figure('CPU of ingest without', found.median('cpu', 'off'), 'µs/event'),
        figure('What metrics and logs add', (found.ratio('cpu', 'on', 'off') - 1) * 100, '%', { atMost: 5 }),
      ],
    };
  } finally {
    child.kill('SIGKILL');
    await exited;
    await world.emptyQueues();
  }
};

/** CPU time per event, in µs. */
async function measure(world: World, child: ChildProcess, port: number, variant: Variant): Promise<number> {
  await world.emptyQueues();
  child.send(variant);
  await once(child, 'message');
  const pid = child.pid ?? Number.NaN;
  const before = await cpuTime(pid);
  const { accepted } = await load({ port, connections, seconds: 2 });
  return (((await cpuTime(pid)) - before) * 1_000) / accepted;
}
