import { over, type FaultType, type Scene } from './fault.ts';
import { slotNames, type SlotName } from './system.ts';

const slots: readonly string[] = slotNames;

const podOf = ({ system }: Scene, place: string) => system.pod(place as SlotName);

/**
 * Faults of a process as such. The supervisor restarts ingest and workers; Redis and Postgres come
 * back when healed.
 */
export const processFaults: Record<string, FaultType> = {
  'pod killed': {
    places: slots,
    hold: [0, 0],
    inject: async (scene, { place }) => {
      podOf(scene, place).signal('SIGKILL');
      return over;
    },
  },
  'pod terminated': {
    places: slots,
    hold: [0, 0],
    inject: async (scene, { place }) => {
      podOf(scene, place).signal('SIGTERM');
      return over;
    },
  },
  'pod frozen': {
    places: slots,
    hold: [1_000, 40_000],
    inject: async (scene, { place }) => {
      const pod = podOf(scene, place);
      pod.signal('SIGSTOP');
      return async () => pod.signal('SIGCONT');
    },
  },
  'redis frozen': {
    places: ['redis'],
    hold: [1_000, 40_000],
    inject: async ({ system }) => {
      system.redis.signal('SIGSTOP');
      return async () => system.redis.signal('SIGCONT');
    },
  },
  'postgres frozen': {
    places: ['postgres'],
    hold: [1_000, 40_000],
    inject: async ({ system }) => {
      await system.postgres.signal('SIGSTOP');
      return () => system.postgres.signal('SIGCONT');
    },
  },
  'rolling restart': {
    places: ['ingest', 'worker'],
    hold: [0, 0],
    inject: async ({ system }, { place }) => {
      for (const slot of slotNames.filter((name) => name.startsWith(place))) await system.replace(slot);
      return over;
    },
  },
};
