import { requireWrk } from './harness/wrk.ts';
import { readOptions } from './harness/options.ts';
import { World } from './harness/world.ts';
import { printFinding } from './harness/table.ts';
import { keepResults } from './harness/results.ts';
import { scenarios } from './scenarios/all.ts';

/*
 * `node test/bench/main.ts [scenario,…]`: all but those of `long` unless named. How much it
 * measures: harness/options.ts.
 */

/** They store millions of events first, take ten minutes, or need the rights of root. */
const long: ReadonlySet<string> = new Set([
  'neighbours',
  'growth',
  'read',
  'overview',
  'streams',
  'export',
  'keep',
  'cold',
  'seal',
]);
const named = process.argv.slice(2).flatMap((names) => names.split(','));

try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  // The servers are gone. A timer that the scenario left behind would keep this process alive.
  process.exit(1);
}

async function run(): Promise<void> {
  const all = Object.entries(scenarios);
  const unknown = named.find((name) => !(name in scenarios));
  if (unknown !== undefined) throw new Error(`no scenario ${unknown}; there are ${Object.keys(scenarios).join(', ')}`);
  const chosen = all.filter(([name]) => (named.length > 0 ? named.includes(name) : !long.has(name)));
  const options = readOptions();
  await requireWrk();
  await using world = await World.start();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave(world));
  for (const [name, scenario] of chosen) {
    const begun = performance.now();
    const finding = await scenario(world, options);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    printFinding(name, finding, seconds);
    await keepResults(name, finding, options, seconds);
  }
}

/**
 * Ends everything at once, and this process after it. What is under way breaks when its servers go:
 * nobody asks for it.
 */
async function leave(world: World): Promise<void> {
  process.on('uncaughtException', () => undefined);
  await world[Symbol.asyncDispose]();
  process.exit(130);
}
