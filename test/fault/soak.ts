import { parseArgs } from 'node:util';
import { Campaign } from '../support/fault/campaign.ts';
import { planEpisodes } from '../support/fault/plan.ts';
import { seedOfRun } from '../support/fault/random.ts';

/**
 * Faults and load for as long as asked: `node test/fault/soak.ts --minutes 60`. Ends with a table,
 * and with 1 when a promise was broken.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(seedOfRun()) },
    kinds: { type: 'string' },
  },
});
const seed = Number(values.seed);
const begun = performance.now();
const until = begun + Number(values.minutes) * 60_000;
const perRound = 4 * 60_000;

const campaign = await Campaign.start({ seed, rate: Number(values.rate), echo: true });
for (const [kind, reason] of campaign.missing()) console.log(`left out: ${kind}: ${reason}`);
const plan = planEpisodes({ seed, ...(values.kinds !== undefined && { kinds: values.kinds.split(',') }) });

async function round(): Promise<void> {
  const end = Math.min(until, performance.now() + perRound);
  campaign.begin();
  while (performance.now() < end) await campaign.inject(plan.next().value);
  await campaign.settle();
}

let failure: unknown;
try {
  while (performance.now() < until && campaign.broken() === undefined) await round();
} catch (error) {
  failure = error;
  console.error(error);
}
const broken = campaign.broken();
const minutes = Math.round((performance.now() - begun) / 60_000);
console.log(`\n${campaign.totals.table({ minutes, rate: Number(values.rate), seed })}\n`);
if (broken !== undefined) console.log(broken);
if (failure !== undefined) console.log(campaign.system.timeline.tail());
const exitCode = broken === undefined && failure === undefined ? 0 : 1;
await campaign.stop();
// Not left to the end of the event loop: taking its environment down, Node has been seen to wait
// for ever, busily, for a socket to a process that had been killed.
process.exit(exitCode);
