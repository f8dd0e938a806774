import type { FaultType, Scene } from './fault.ts';
import type { Forwarder } from '../forwarder.ts';
import type { SlotName } from './system.ts';

/**
 * Every pair of processes that talk: callers to ingest (`front`), and each pod to what it needs.
 */
const places = [
  'ingest-1/front',
  'ingest-2/front',
  'ingest-1/redis',
  'ingest-2/redis',
  'worker-1/redis',
  'worker-2/redis',
  'worker-1/postgres',
  'worker-2/postgres',
];

function linkOf({ system }: Scene, place: string): Forwarder {
  const [slot, name = ''] = place.split('/');
  const link = system.pod(slot as SlotName).links[name];
  if (link === undefined) throw new Error(`no network ${place}`);
  return link;
}

/** A fault that something does to a link, until it heals. */
function ofLink(hold: FaultType['hold'], strike: (link: Forwarder, amount: number) => void): FaultType {
  return {
    places,
    hold,
    inject: async (scene, { place, amount }) => {
      const link = linkOf(scene, place);
      strike(link, amount);
      return async () => link.heal();
    },
  };
}

/** Faults of the network between two processes. */
export const networkFaults: Record<string, FaultType> = {
  'network cut': ofLink([200, 15_000], (link) => link.cut()),
  'network slow': ofLink([1_000, 10_000], (link, amount) => link.delay(5 + Math.round(amount ** 2 * 600))),
  'network silent': ofLink([500, 20_000], (link) => link.stall()),
  'connections half-open': ofLink([0, 0], (link) => link.halfOpen()),
};
