import { component } from '../../internal/kit/lifecycle/group.ts';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { runProcess } from '../../internal/kit/lifecycle/run-process.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';

/**
 * A process as the tests of its lifecycle want it. The arguments say how it behaves, and how many
 * ms its stop may take. Prints what happens to it.
 */
const [behaviour, shutdownTimeoutMs] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const forever = new Promise<void>(() => undefined);
const { logger, probes } = createTelemetry('test', 'info');
let work: NodeJS.Timeout | undefined;

const main = component('test', {
  start: async () => {
    if (behaviour === 'cannot start') throw new Error('port taken');
    work = setInterval(() => undefined, 1_000);
    if (behaviour === 'starts for ever') await forever;
  },
  stop: async () => {
    say('stop');
    if (behaviour === 'does not stop') await forever;
    if (behaviour !== 'leaves something behind') clearInterval(work);
    say('stop done');
  },
});

runMain(() =>
  runProcess({
    main,
    probes: { ...probes, ready: new Map(probes.ready) },
    logger,
    drainDelayMs: 50,
    shutdownTimeoutMs: Number(shutdownTimeoutMs),
    onReady: () => say('ready'),
  }),
);
if (behaviour === 'starts for ever') say('ready');
