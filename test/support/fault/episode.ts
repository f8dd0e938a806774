import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Scene } from './fault.ts';
import { describeEpisode, faultTypes, type Episode } from './plan.ts';

/** How long the answers must be flawless until the system counts as recovered, in ms. */
const calm = 1_500;

/** Longest wait for that, in ms. */
const longestRecovery = 60_000;

/**
 * From the end of the last fault until the last request was begun that got no receipt (or the first
 * that got one), in ms.
 */
export type RecoveryMs = number;

/** Injects the faults of an episode, waits for their end, and then for flawless answers. */
export async function runEpisode(scene: Scene, episode: Episode): Promise<RecoveryMs> {
  const { timeline } = scene.system;
  timeline.note(describeEpisode(episode));
  await Promise.all(episode.map((fault) => strike(scene, fault)));
  const recovery = await recovered(scene, performance.now());
  timeline.note(`  recovered ${Math.round(recovery)} ms after the end of it`);
  return recovery;
}

async function strike(scene: Scene, fault: Fault): Promise<void> {
  await sleep(fault.afterMs);
  const heal = await faultTypes[fault.kind]?.inject(scene, fault);
  await sleep(fault.holdMs);
  await heal?.();
}

async function recovered({ load, system }: Scene, ended: number): Promise<RecoveryMs> {
  for (;;) {
    await sleep(100);
    const now = performance.now();
    const since = load.ledger.since(ended);
    const receipts = since.filter(({ status }) => status === 201);
    const failures = since.filter(({ status }) => status === 0 || status >= 500);
    const lastFailure = failures.reduce((latest, { begun }) => Math.max(latest, begun), ended);
    const firstReceipt = receipts.reduce((earliest, { ended }) => Math.min(earliest, ended), Infinity);
    const hanging = load.oldestUnderWay() < now - calm;
    const calmSince = Math.max(lastFailure, firstReceipt);
    if (!hanging && now - calmSince >= calm) return (failures.length > 0 ? lastFailure : firstReceipt) - ended;
    if (now - ended > longestRecovery) {
      system.timeline.note('  NOT RECOVERED');
      return Infinity;
    }
  }
}
