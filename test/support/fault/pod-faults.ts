import type { Forwarder } from '../forwarder.ts';
import { clocksCanStep } from './clock.ts';
import { variant, type FaultType, type Scene } from './fault.ts';
import { slotNames, type SlotName } from './system.ts';

const podOf = ({ system }: Scene, place: string) => system.pod(place as SlotName);

/** Ends a pod's process; its supervisor restarts it. */
function ended(signal: NodeJS.Signals): FaultType {
  const inject: FaultType['inject'] = (scene, { place }) => podOf(scene, place).signal(signal);
  return { places: slotNames, hold: [0, 0], inject };
}

/** Every pair of processes that talk: callers to ingest (`front`), and each pod to its servers. */
const networks = slotNames.flatMap((slot) =>
  (slot.startsWith('ingest') ? ['front', 'redis'] : ['redis', 'postgres']).map((name) => `${slot}/${name}`),
);

/** A fault of the network between two processes, until it heals. */
function ofNetwork(hold: FaultType['hold'], strike: (network: Forwarder, amount: number) => void): FaultType {
  return {
    places: networks,
    hold,
    inject: (scene, { place, amount }) => {
      const [slot = '', name = ''] = place.split('/');
      const network = podOf(scene, slot).links[name];
      if (network === undefined) throw new Error(`no network ${place}`);
      strike(network, amount);
      return () => network.heal();
    },
  };
}

/** Why clocks cannot be stepped; undefined where they can. */
const clockless = clocksCanStep ? undefined : 'libfaketime is not installed (Debian: faketime)';

const day = 86_400;

/**
 * How far a clock is off, in s. The last three lead over midnight UTC, and to days that have no
 * partition.
 */
const steps = [-3_600, -20, -2, 2, 20, 3_600, 'midnight', 20 * day, -3 * day] as const;

/** Faults of ingest and workers, of their clocks and of the networks around them. */
export const podFaults: Record<string, FaultType> = {
  'pod killed': ended('SIGKILL'),
  'pod terminated': ended('SIGTERM'),
  'pod frozen': {
    places: slotNames,
    hold: [1_000, 40_000],
    inject: (scene, { place }) => {
      const pod = podOf(scene, place);
      pod.signal('SIGSTOP');
      return () => pod.signal('SIGCONT');
    },
  },
  'rolling restart': {
    places: ['ingest', 'worker'],
    hold: [0, 0],
    inject: async ({ system }, { place }) => {
      for (const slot of slotNames.filter((name) => name.startsWith(place))) await system.replace(slot);
    },
  },
  'clock stepped': {
    places: slotNames,
    hold: [2_500, 8_000],
    unavailable: () => clockless,
    inject: (scene, { place, amount }) => {
      const { clock } = podOf(scene, place);
      const step = variant(steps, amount);
      clock.step(step === 'midnight' ? day - Math.floor((Date.now() / 1_000) % day) - 2 : step);
      return () => clock.step(0);
    },
  },
  'worker a year ahead': {
    places: slotNames.filter((slot) => slot.startsWith('worker')),
    hold: [4_000, 20_000],
    unavailable: () => clockless,
    inject: (scene, { place }) => {
      const { clock } = podOf(scene, place);
      clock.step(366 * day);
      return () => clock.step(0);
    },
  },
  'network cut': ofNetwork([200, 15_000], (network) => network.cut()),
  'network slow': ofNetwork([1_000, 10_000], (network, amount) => network.delay(5 + Math.round(amount ** 2 * 600))),
  'network silent': ofNetwork([500, 20_000], (network) => network.stall()),
  'connections half-open': ofNetwork([0, 0], (network) => network.halfOpen()),
};
