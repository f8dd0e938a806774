import { acks } from './acks.ts';
import { burst } from './burst.ts';
import { cold, keep } from './cold.ts';
import { costs } from './costs.ts';
import { databases } from './databases.ts';
import { drain } from './drain.ts';
import { exec } from './exec.ts';
import { exporting } from './export.ts';
import { fairness } from './fairness.ts';
import { growth } from './growth.ts';
import { ingest } from './ingest.ts';
import { keys } from './keys.ts';
import { latency } from './latency.ts';
import { log } from './log.ts';
import { neighbours } from './neighbours.ts';
import { overview } from './overview.ts';
import { pings } from './pings.ts';
import { pipeline } from './pipeline.ts';
import { read } from './read.ts';
import type { Scenario } from './scenario.ts';
import { seal } from './seal.ts';
import { shards } from './shards.ts';
import { start } from './start.ts';
import { streams } from './streams.ts';
import { telemetry } from './telemetry.ts';
import { tell } from './tell.ts';
import { tick } from './tick.ts';

/** By name, in the order in which they run and are shown. */
export const scenarios: Record<string, Scenario> = {
  ingest,
  keys,
  pings,
  pipeline,
  drain,
  burst,
  latency,
  acks,
  shards,
  fairness,
  neighbours,
  costs,
  log,
  databases,
  start,
  exec,
  telemetry,
  growth,
  read,
  overview,
  streams,
  export: exporting,
  keep,
  cold,
  seal,
  tick,
  tell,
};
