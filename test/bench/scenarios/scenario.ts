import type { Calm } from '../harness/calm.ts';
import type { Finding } from '../harness/figures.ts';
import type { Options } from '../harness/options.ts';
import type { World } from '../harness/world.ts';

/** Measures one thing; where neighbours decide most, each round once the machine is calm. Leaves no process behind, and the world's queues empty. */
export type Scenario = (world: World, options: Options, calm: Calm) => Promise<Finding>;
