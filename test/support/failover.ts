import { setTimeout as sleep } from 'node:timers/promises';
import { Callers } from './callers.ts';
import type { RunningIngest } from './pipeline.ts';
import { storedMarks } from './rows.ts';

/** Longest that a failover may take before the test counts as hanging, in ms. */
export const failoverMs = 90_000;

/** Callers at a moderate rate, so that the servers have time for a failover. */
export function startCallers({ client }: RunningIngest, count = 4): Callers {
  return new Callers(client, count, async (event) => {
    const answer = await client.register(event);
    await sleep(answer.status === 201 ? 5 : 50);
    return answer;
  });
}

/** Prints what a failover cost: time without a 201, and acknowledged events that are not stored. */
export async function reportFailover(what: string, database: string, callers: Callers): Promise<void> {
  const stored = new Set(await storedMarks(database));
  const { accepted, longestGapMs } = callers;
  const lost = accepted.filter((mark) => !stored.has(mark)).length;
  const gap = `${(longestGapMs / 1_000).toFixed(1)} s without a 201`;
  console.log(`      ${what}: ${gap}, ${lost} of ${accepted.length} acknowledged events lost`);
}
