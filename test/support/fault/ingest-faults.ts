import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultType } from './fault.ts';
import type { SlotName } from './system.ts';

const ingests = ['ingest-1', 'ingest-2'] as const satisfies readonly SlotName[];

/** So much longer takes each reply of Redis, in ms: a kill hits the time between two commands. */
const slowMs = 20;

/** Requests that a kill strikes. */
const struck = 24;

/** Longest time from the first of them until the kill, in ms. */
const longestMs = 250;

/** Faults of ingest that need requests, or tokens, of their own. */
export const ingestFaults: Record<string, FaultType> = {
  'ingest killed in a request': {
    places: ingests,
    hold: [0, 0],
    inject: async ({ system, load }, { place, amount }) => {
      const pod = system.pod(place as SlotName);
      const redis = pod.links['redis'];
      redis?.delay(slowMs);
      const sent = load.messages.send(system.balancer, pod, struck);
      await sleep(amount * longestMs);
      pod.signal('SIGKILL');
      redis?.heal();
      return () => sent;
    },
  },
  'tokens away': {
    places: ['ingest'],
    hold: [12_000, 20_000],
    unavailable: (system) => (system.hasTokenApi ? undefined : 'ingest reads its tokens from a file'),
    inject: ({ system }) => {
      system.tokenNetwork.stall();
      for (const slot of ingests) system.pod(slot).signal('SIGKILL');
      return () => system.tokenNetwork.heal();
    },
  },
};
