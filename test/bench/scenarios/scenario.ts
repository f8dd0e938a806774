import type { Finding } from '../harness/figures.ts';
import type { Options } from '../harness/options.ts';
import type { World } from '../harness/world.ts';

/** Measures one thing. Leaves no process behind, and the world's queues empty. */
export type Scenario = (world: World, options: Options) => Promise<Finding>;
