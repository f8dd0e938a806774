import { freePort } from '../../support/free-port.ts';
import { nodeOptionsOfController } from '../../support/image-environment.ts';
import { until } from '../../support/until.ts';
import type { Program } from '../harness/program.ts';
import type { World } from '../harness/world.ts';

/** A controller under measurement. */
export interface Controller {
  program: Program;
  /** The next tick that ends. */
  nextTick(): Promise<Tick>;
  /** The next tick that evaluates so many automations. */
  tickOf(evaluated: number): Promise<Tick>;
  /** Writes of statuses so far. */
  statusWrites(): Promise<number>;
}

/** Duration and size of a tick. */
export interface Tick {
  seconds: number;
  evaluated: number;
}

/** Starts a controller that reads its declarations as `source` says. Resolves when it is ready. */
export async function startController(
  world: World,
  database: string,
  source: Record<string, string>,
): Promise<Controller> {
  const opsPort = await freePort();
  const environment = {
    OPS_PORT: String(opsPort),
    REDIS_URL: world.redisUrl,
    DATABASE_URL: database,
    ...source,
  };
  const program = await world.warmProgram('cmd/controller/main.ts', environment, nodeOptionsOfController());
  const ops = `http://127.0.0.1:${opsPort}`;
  await program.answers(`${ops}/readyz`);
  const read = async () => {
    // Ticks are as far apart as the server keeps an idle connection: one may close as it is used.
    const text = await (await fetch(`${ops}/metrics`, { headers: { connection: 'close' } })).text();
    const value = (name: string) => Number(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    return {
      ticks: value('runledger_tick_seconds_count'),
      seconds: value('runledger_tick_seconds_sum'),
      evaluated: value('runledger_evaluations_total'),
      statusWrites: value('runledger_status_writes_total'),
    };
  };
  const nextTick = async (): Promise<Tick> => {
    const before = await read();
    const after = await until(
      'a tick',
      async () => {
        const now = await read();
        return now.ticks > before.ticks && now;
      },
      60_000,
    );
    const { seconds, evaluated } = after;
    return { seconds: seconds - before.seconds, evaluated: evaluated - before.evaluated };
  };
  const tickOf = async (evaluated: number): Promise<Tick> => {
    for (;;) {
      const found = await nextTick();
      if (found.evaluated >= evaluated) return found;
    }
  };
  return { program, nextTick, tickOf, statusWrites: async () => (await read()).statusWrites };
}
